// Tables whose rows have keys. Unchanged rows stay in place, so that new data moves
// neither the focus nor an open row.
import { button, h, replace, uniqueId } from "./dom.js";

/**
 * table has columns {name, cell, numeric}, where cell renders an item. With
 * detail(item, replace), the first cell opens a detail row. replace shows the changed
 * item. On a narrow screen each row is a card. The roles keep it a table for screen
 * readers.
 */
export function table({ label, columns, key, detail, empty }) {
  const head = h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
    columns.map((c) => h("th", { scope: "col", role: "columnheader", class: c.numeric && "numeric" }, c.name))));
  const element = h("table", { role: "table", "aria-label": label, hidden: true }, head);
  const nothing = h("p", { class: "nothing", hidden: true }, empty);
  const rows = new Map();

  function make(item) {
    const body = h("tbody", { role: "rowgroup" });
    const row = { body, open: false, content: "" };
    row.fill = (fresh) => {
      const content = JSON.stringify(fresh);
      if (content === row.content) return;
      row.content = content;
      replace(body, ...cells(row, fresh));
    };
    row.fill(item);
    return row;
  }

  function cells(row, item) {
    const more = detail && detailRow(row, item);
    const tr = h("tr", { role: "row" }, columns.map((c, i) => {
      const content = c.cell(item);
      return h("td", { role: "cell", data: { label: c.name }, class: c.numeric && "numeric" },
        more && i === 0 ? more.toggle(content) : h("span", {}, content));
    }));
    return more ? [tr, more.element] : [tr];
  }

  function detailRow(row, item) {
    const id = uniqueId("detail");
    const cell = h("td", { colspan: columns.length, role: "cell" });
    const element = h("tr", { role: "row", id, class: "detail", hidden: !row.open }, cell);
    if (row.open) cell.append(detail(item, row.fill));
    const toggle = (content) => {
      const b = button(content, () => {
        row.open = !row.open;
        element.hidden = !row.open;
        b.setAttribute("aria-expanded", String(row.open));
        cell.replaceChildren(...(row.open ? [detail(item, row.fill)] : []));
      }, { class: "toggle", "aria-expanded": String(row.open), "aria-controls": id, data: { part: "toggle" } });
      return b;
    };
    return { element, toggle };
  }

  return {
    element: h("div", { class: "table" }, element, nothing),
    update(items) {
      element.hidden = items.length === 0;
      nothing.hidden = items.length > 0;
      const seen = new Set();
      for (const item of items) {
        const k = key(item);
        seen.add(k);
        if (rows.has(k)) rows.get(k).fill(item);
        else rows.set(k, make(item));
      }
      for (const [k, row] of rows) {
        if (seen.has(k)) continue;
        row.body.remove();
        rows.delete(k);
      }
      // Moving a row would take the focus from it, so rows in place stay.
      let before = head;
      for (const item of items) {
        const { body } = rows.get(key(item));
        if (before.nextSibling !== body) before.after(body);
        before = body;
      }
    },
  };
}
