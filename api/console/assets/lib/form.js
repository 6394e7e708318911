// Forms whose fields have the API's names, so that its errors appear beside them.
import { busy, h, uniqueId } from "./dom.js";
import { problemBox } from "./problem.js";

/** field is a labeled control. Screen readers also read its hint and error. */
export function field({ name, label, hint, control }) {
  const id = uniqueId(name.replace(/\W/g, "-"));
  control.id = id;
  control.name = name;
  const about = hint && h("p", { class: "hint", id: `${id}-hint` }, hint);
  const error = h("p", { class: "field-error", id: `${id}-error` });
  control.setAttribute("aria-describedby", [hint && `${id}-hint`, `${id}-error`].filter(Boolean).join(" "));
  const caption = h("label", { for: id }, label);
  const inline = control.type === "checkbox";
  return h("div", { class: inline ? "field inline" : "field", data: { field: name } }, inline ? [control, caption] : [caption, control], about, error);
}

export const text = (properties = {}) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...properties });

export const number = (properties = {}) => h("input", { type: "number", step: "any", ...properties });

export const checkbox = (checked) => {
  const control = h("input", { type: "checkbox" });
  control.checked = checked;
  return control;
};

export function select(options, value) {
  const control = h("select", {}, options.map(([v, label]) => h("option", { value: v }, label)));
  control.value = value;
  return control;
}

/** choices are the options of an enumeration, in words. */
export const choices = (values, words) => values.map((value) => [value, words[value] ?? value]);

/**
 * form is a form that submits by script. It shows a problem beside the fields that the
 * problem names, and other errors at the top.
 */
export function form({ submit, action, fields, label = action, extra = [] }) {
  const problem = problemBox();
  const press = h("button", { type: "submit", class: "primary" }, action);
  const element = h("form", { novalidate: true, "aria-label": label, on: { submit: onSubmit } },
    problem.element, fields, h("div", { class: "actions" }, press, extra));

  function clear() {
    problem.show(null);
    for (const place of element.querySelectorAll(".field-error")) place.textContent = "";
    for (const control of element.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
  }

  function placed({ field: name, message }) {
    const place = [...element.querySelectorAll("[data-field]")].find((f) => name === f.dataset.field || name.startsWith(`${f.dataset.field}.`) || name.startsWith(`${f.dataset.field}[`));
    if (!place) return false;
    const around = place.closest("details");
    if (around) around.open = true;
    // Most messages continue the field's name. Others name fields themselves. A field may
    // have several errors, each of a part such as a header.
    const subject = /^(must|is|has|cannot|requires)\b/.test(message) ? `${place.querySelector("label, legend").textContent}${name.slice(place.dataset.field.length).replace(".", " ")} ` : "";
    const error = place.querySelector(".field-error");
    error.textContent = `${error.textContent} ${subject}${message}.`.trim();
    place.querySelector("input, select, textarea").setAttribute("aria-invalid", "true");
    return true;
  }

  function onSubmit(event) {
    event.preventDefault();
    busy(press, async () => {
      clear();
      try {
        await submit();
      } catch (error) {
        const named = error.fields ?? [];
        error.fields = named.filter((f) => !placed(f));
        if (error.fields.length < named.length) error.recovery = "Correct the marked fields.";
        problem.show(error);
        (element.querySelector("[aria-invalid]") ?? press).focus();
      }
    });
  }
  return element;
}
