// A problem on the page: what is wrong, what to do, and what to quote to support.
import { h } from "./dom.js";

/** problemBox is a place for a problem. show(null) empties it. */
export function problemBox() {
  const element = h("div", { class: "problem", role: "alert", hidden: true });
  return {
    element,
    show(problem) {
      element.hidden = !problem;
      element.replaceChildren(...(problem ? parts(problem) : []));
    },
  };
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
