// A problem on the page: what is wrong, what to do, and what to quote to support.
import { busy, h } from "./dom.js";

/**
 * problemBox is a place for a problem. show(null) empties it. press(work) is what a button
 * does when it is pressed: the work, whose problem appears in the place.
 */
export function problemBox() {
  const element = h("div", { class: "problem", role: "alert", hidden: true });
  const show = (problem) => {
    element.hidden = !problem;
    element.replaceChildren(...(problem ? parts(problem) : []));
  };
  const press = (work) => (event) => busy(event.currentTarget, async () => {
    show(null);
    try {
      await work();
    } catch (error) {
      show(error);
    }
  });
  return { element, show, press };
}

/** parts are the lines of a problem. Any other error is a fault of this page. */
function parts(problem) {
  const known = problem.name === "Problem";
  return [
    h("p", { class: "problem-message" }, known ? problem.message : `The console failed: ${problem.message}`),
    known && problem.recovery && problem.fields.length === 0 && h("p", {}, problem.recovery),
    known && problem.fields.length > 0 && h("ul", {}, problem.fields.map((f) => h("li", {}, h("code", {}, f.field), ` ${f.message}`))),
    known && problem.retryAfter > 0 && h("p", {}, `Try again in ${problem.retryAfter} s.`),
    known && h("p", { class: "hint" }, problem.code, problem.requestId && [" · request ", h("code", {}, problem.requestId)]),
  ].filter(Boolean);
}
