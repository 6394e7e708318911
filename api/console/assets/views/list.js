// A list of one kind of object, with a form that adds one and actions on each.
import { button, h, say } from "../lib/dom.js";
import { form } from "../lib/form.js";
import { pages } from "../lib/pages.js";
import { problemBox } from "../lib/problem.js";
import { table } from "../lib/table.js";

/**
 * listView shows the objects of the operation path. input() completes its body, and above
 * has elements over the list. actions(item) are {name, run, danger}: run acts and returns
 * what to say. An action {name, form} opens a form over the list, as add does, which is
 * {label, action, form}. form() returns {fields, submit}: the elements, and how to send them.
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
    return h("span", { class: "buttons" }, actions(item).filter(Boolean).map(({ name, run, form: made, danger }) =>
      button(name, made ? () => open({ label: `${name} ${key(item)}`, action: "Save", form: made }) : problem.press(async () => {
        const said = await run();
        await list.refresh();
        if (said) say(said);
      }), { "aria-label": `${name} ${key(item)}`, class: danger && "danger", data: { part: name } })));
  }

  /** open shows a form over the list. A saved item stays on its page. */
  function open({ label, action = "Create", form: made }) {
    const { fields, submit } = made();
    const close = () => {
      place.replaceChildren();
      opener.hidden = false;
      opener.focus();
    };
    opener.hidden = true;
    place.replaceChildren(h("section", { class: "panel", "aria-label": label }, h("h2", {}, label), form({
      action, fields, extra: [button("Cancel", close)],
      submit: async () => {
        await submit();
        close();
        await list.refresh();
        say("Saved.");
      },
    })));
    place.querySelector("input, select").focus();
  }
  const opener = add && button(add.label, () => open(add), { class: "primary" });

  list.load();
  return {
    list,
    view: { title, element: h("div", {}, problem.element, above, opener && h("div", { class: "create" }, opener), place, list.element) },
  };
}
