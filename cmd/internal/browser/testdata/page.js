// What the tests ask of a page. It is put into each page before its own scripts.
globalThis.t = (() => {
  const trimmed = (text) => text.replace(/\s+/g, " ").trim();
  const words = (e) => trimmed(e.getAttribute("aria-label") ?? e.textContent);
  const visible = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const fits = (have, want) => (want.endsWith("…") ? have.startsWith(want.slice(0, -1)) : have === want);

  /** until resolves once a condition holds; it is asked again whenever the page changes. */
  function until(condition) {
    return new Promise((resolve) => {
      const check = () => {
        let held = false;
        try {
          held = condition();
        } catch {
          // What is asked for is not there yet.
        }
        if (!held) return;
        observer.disconnect();
        clearInterval(timer);
        resolve(true);
      };
      const observer = new MutationObserver(check);
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      // A property, or a scroll, changes without a mutation.
      const timer = setInterval(check, 100);
      check();
    });
  }

  /** all are the visible elements of a selector with a text; "abc…" is its beginning. */
  const all = (selector, text) => [...document.querySelectorAll(selector)].filter((e) => visible(e) && (text === undefined || fits(words(e), text)));

  /** field is the control with a label. */
  function field(label) {
    const found = all("label", label)[0];
    return found && document.getElementById(found.htmlFor);
  }

  /** place is where to click an element, if nothing lies on it. */
  function place(e) {
    if (e.getAttribute("aria-disabled") === "true") return null;
    e.scrollIntoView({ block: "center", behavior: "instant" });
    const box = e.getClientRects()[0];
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const top = document.elementFromPoint(x, y);
    return e.contains(top) || e === top ? { x, y } : null;
  }

  /**
   * spot resolves to the place of an element once it can be clicked there, and hit says
   * whether it was: the page may have changed before the mouse came, or in its click.
   */
  async function spot(find) {
    let at = null;
    await until(() => (at = place(find())) !== null);
    clicked = false;
    addEventListener("click", (event) => { clicked = find()?.contains(event.target); }, { once: true, capture: true });
    return at;
  }
  /** over says what lies where an element is. */
  function over(e) {
    if (!e) return "it is not there";
    const box = e.getClientRects()[0];
    return `${document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.outerHTML.slice(0, 200)} is at ${JSON.stringify(box)}`;
  }
  let clicked = false;
  const hit = () => clicked === true;

  const text = (selector) => all(selector).map((e) => trimmed(e.textContent)).join("\n");

  return { until, all, field, spot, hit, over, text };
})();
