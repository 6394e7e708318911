// Questions to the API: a form, and its answer below.
import { form } from "../lib/form.js";
import { h } from "../lib/dom.js";

/** askPart sends a form and shows the elements that answer returns. */
export function askPart({ id, title, hint, action, fields, answer }) {
  const place = h("div", { role: "status" });
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), hint && h("p", { class: "hint" }, hint),
    form({
      label: title, action, fields,
      submit: async () => {
        place.replaceChildren(h("p", { class: "nothing" }, "One moment…"));
        try {
          place.replaceChildren(...await answer());
        } catch (error) {
          place.replaceChildren();
          throw error;
        }
      },
    }), place);
}
