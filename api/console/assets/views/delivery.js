// One delivery by its message's id.
import { inPath } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { outcomeBadge } from "../lib/parts.js";
import { problemBox } from "../lib/problem.js";
import { deliveryDetail } from "./deliveries.js";

export function deliveryView({ session, signal }, id) {
  const problem = problemBox();
  const place = h("div", {}, h("p", { class: "nothing" }, "Loading…"));

  function show(d) {
    place.replaceChildren(h("div", { class: "headline" }, outcomeBadge(d.outcome)), deliveryDetail(session, signal, d, show));
  }

  session.client.call(`/v1/webhook/deliveries/${inPath(id)}/get`, {}, { signal }).then(show, (error) => {
    if (signal.aborted) return;
    place.replaceChildren();
    problem.show(error);
  });
  return { title: id, above: h("p", { class: "crumb" }, h("a", { href: "#/triggers" }, "Triggers")), element: h("div", {}, problem.element, place) };
}
