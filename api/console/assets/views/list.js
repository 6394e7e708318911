// A list of one kind of object, with a form that adds one and actions on each.
import { busy, button, h, say } from "../lib/dom.js";
import { form } from "../lib/form.js";
import { pages } from "../lib/pages.js";
import { problemBox } from "../lib/problem.js";
import { table } from "../lib/table.js";

/**
 * listView shows the objects of the operation path. input() completes its body, and above
 * has elements over the list. actions(item) are {name, run, danger}: run acts and returns
 * what to say. add is {label, title, fields(), submit(fields)}: fields returns the
 * elements of a form, and submit sends them.
 */
export function listView({ session, signal }, { title, path, key, columns, empty, input = () => ({}), above = [], actions, add }) {
  const problem = problemBox();
  const place = h("div", { class: "place" });
  const list = pages({
    signal,
    label: title,
    load: (after, limit) => session.client.call(path, { ...input(), limit, ...(after && { after }) }, { signal }),
    table: table({ label: title, key, empty, columns: actions ? [...columns, { name: "Actions", cell: buttons }] : columns }),
  });

  function buttons(item) {
    return h("span", { class: "buttons" }, actions(item).filter(Boolean).map(({ name, run, danger }) =>
      button(name, (event) => busy(event.currentTarget, async () => {
        problem.show(null);
        try {
          const said = await run();
          await list.refresh();
          if (said) say(said);
        } catch (error) {
          problem.show(error);
        }
      }), { "aria-label": `${name} ${key(item)}`, class: danger && "danger", data: { part: name } })));
  }

  const open = add && button(add.label, () => {
    const { fields, submit } = add.form();
    const close = () => {
      place.replaceChildren();
      open.hidden = false;
      open.focus();
    };
    open.hidden = true;
    place.replaceChildren(h("section", { class: "panel", "aria-label": add.label }, h("h2", {}, add.label), form({
      action: add.action ?? "Create", fields, extra: [button("Cancel", close)],
      submit: async () => {
        await submit();
        close();
        await list.load();
      },
    })));
    place.querySelector("input, select").focus();
  }, { class: "primary" });

  list.load();
  return {
    list,
    view: { title, element: h("div", {}, problem.element, above, open && h("div", { class: "create" }, open), place, list.element) },
  };
}
