// What is hard to read on the page as it is shown, a line each: the contrast of
// text with what is behind it as WCAG 2 computes it, its size, and what is wider
// than the page.
(() => {
  const wrong = new Set();

  const channels = (color) => {
    const m = /rgba?\(([\d.]+),? ([\d.]+),? ([\d.]+)(?:[,/ ]+([\d.]+))?\)/.exec(color);
    return m ? [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]] : [0, 0, 0, 0];
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);

  function background(element) {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(channels(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255, 1]);
  }

  const luminance = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const v = c[i] / 255;
    return sum + weight * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);

  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };

  /** hidden is what is there for screen readers alone. */
  const hidden = (e) => e && (getComputedStyle(e).clipPath === "inset(50%)" || hidden(e.parentElement));

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    const said = walker.currentNode.textContent.trim();
    if (!said || !e.checkVisibility({ visibilityProperty: true }) || e.closest(".skip, [aria-disabled=true], script, noscript") || hidden(e)) continue;
    // A modal dialog dims what is behind it.
    const modal = document.querySelector("dialog[open]");
    if (modal && !modal.contains(e)) continue;
    const style = getComputedStyle(e);
    const size = parseFloat(style.fontSize);
    const back = background(e);
    const front = over(channels(e instanceof SVGElement ? style.fill : style.color), back);
    const enough = size >= 24 || (size >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = contrast(front, back);
    if (ratio < enough) wrong.add(`"${said.slice(0, 40)}" has a contrast of ${ratio.toFixed(2)}, not ${enough}`);
    if (size < 12) wrong.add(`"${said.slice(0, 40)}" is ${size} px high`);
    const box = e.getBoundingClientRect();
    if (!(e instanceof SVGElement) && !e.closest(".scroll, table.plain") && box.right > innerWidth + 1) wrong.add(`"${said.slice(0, 40)}" ends at ${Math.round(box.right)} px, beyond the page`);
  }
  for (const box of document.querySelectorAll("input[type=checkbox]")) {
    const [label] = box.labels;
    if (box.checkVisibility() && label.getBoundingClientRect().top > box.getBoundingClientRect().bottom) wrong.add(`"${label.textContent.slice(0, 40)}" is below its checkbox`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.add(`the page is ${document.documentElement.scrollWidth} px wide, not ${innerWidth}`);
  return [...wrong];
})()
