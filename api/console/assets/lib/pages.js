// A list in pages. Each page names the cursor of the next page.
import { csvButton } from "./csv.js";
import { button, h } from "./dom.js";
import { problemBox } from "./problem.js";

const limit = 50;

// A CSV file has at most this many rows. A program reads more with the API.
const most = 10_000;

/**
 * pages shows a table with the ways to the next page and back. load(after, limit)
 * fetches a page.
 */
export function pages({ label, table, load, signal }) {
  const problem = problemBox();
  const back = button("Previous", () => turn(-1));
  const forth = button("Next", () => turn(1));
  const where = h("span", { role: "status", class: "hint" });
  const nav = h("nav", { class: "pages", "aria-label": `Pages of ${label}`, hidden: true }, back, where, forth);
  const save = csvButton(label, everything, (error) => problem.show(error));
  save.hidden = true;
  // The cursors up to the requested page, and up to the page that the table shows.
  let cursors = [""];
  let shown = cursors;
  let next = null;
  let asked = 0;
  let empty = true;

  /** everything fetches all pages. */
  async function everything() {
    const items = [];
    let after = "";
    while (after !== null && items.length < most) {
      const page = await load(after, 500);
      items.push(...page.data);
      after = page.next;
    }
    return items.slice(0, most);
  }

  async function show() {
    const number = ++asked;
    try {
      let page = await load(cursors.at(-1), limit);
      // A page may be empty though there are more.
      while (page.data.length === 0 && page.next && number === asked) page = await load(page.next, limit);
      if (number !== asked) return; // another page was asked for meanwhile
      shown = cursors;
      next = page.next;
      table.update(page.data);
      problem.show(null);
      empty = page.data.length === 0;
      save.hidden = empty;
      nav.hidden = next === null && cursors.length === 1;
      where.textContent = `Page ${cursors.length}`;
      enable();
    } catch (error) {
      if (signal.aborted || number !== asked) return;
      cursors = shown;
      enable();
      problem.show(error);
    }
  }

  function turn(by) {
    if ((by > 0 ? forth : back).getAttribute("aria-disabled") === "true") return;
    cursors = by > 0 ? [...cursors, next] : cursors.slice(0, -1);
    // Until the page is here, its next is not known.
    set(back, true);
    set(forth, true);
    show();
  }

  const set = (b, disabled) => b.setAttribute("aria-disabled", String(disabled));

  /** enable allows the turns from the page that the table shows. */
  function enable() {
    set(back, cursors.length === 1);
    set(forth, next === null);
  }

  return {
    element: h("div", {}, problem.element, table.element, h("div", { class: "below-table" }, nav, save)),
    /** load begins again with the first page. */
    load: () => {
      cursors = shown = [""];
      return show();
    },
    /** refresh fetches the page that is shown once more. */
    refresh: show,
    /** fill is refresh for a list that shows nothing yet, so that nothing moves under a reader. */
    fill: () => empty && show(),
  };
}
