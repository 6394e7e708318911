// Dialogs: modal, closed by Escape except for secrets, and the focus returns to where it was.
import { button, h, say, uniqueId } from "./dom.js";

/** open shows a dialog with the content that build returns. build receives a function that closes the dialog. Escape closes it, too, unless stays is set. */
function open(title, build, stays = false) {
  const id = uniqueId("dialog");
  const heading = h("h2", { id }, title);
  const element = h("dialog", { "aria-labelledby": id, closedby: stays ? "none" : null }, heading);
  return new Promise((resolve) => {
    let result;
    const close = (value) => {
      result = value;
      element.close();
    };
    element.append(...build(close));
    if (stays) element.addEventListener("cancel", (event) => event.preventDefault()); // for browsers that do not know closedby
    element.addEventListener("close", () => {
      element.remove();
      resolve(result);
    });
    document.body.append(element);
    element.showModal();
  });
}

/** confirm asks before an action, and returns whether to go on. With word, the user must type it first. */
export async function confirm({ title, text, action, danger = false, word = "" }) {
  const typed = h("input", { type: "text", id: uniqueId("word"), autocomplete: "off", spellcheck: "false", autofocus: true });
  return (await open(title, (close) => {
    const go = button(action, () => {
      if (!word || typed.value === word) close(true);
      else typed.focus();
    }, { class: danger ? "danger" : "primary", "aria-disabled": word ? "true" : null });
    typed.addEventListener("input", () => go.setAttribute("aria-disabled", String(typed.value !== word)));
    return [
      h("p", {}, text),
      word && [h("label", { for: typed.id }, `Type ${word} to confirm`), typed],
      h("div", { class: "actions" }, go, button("Cancel", () => close(false), { autofocus: !word })),
    ].flat().filter(Boolean);
  })) === true;
}

/** copyButton copies a text. Without a secure origin there is no clipboard, and no button. */
export function copyButton(label, text, properties = {}) {
  if (!navigator.clipboard) return null;
  const press = button(label, async () => {
    press.textContent = await navigator.clipboard.writeText(text).then(() => "Copied", () => "Not copied: the browser does not allow it");
    say(`${press.textContent}.`);
  }, properties);
  return press;
}

/** showSecret shows a secret that is shown only once. */
export function showSecret({ title, text, label, secret }) {
  const id = uniqueId("secret");
  const field = h("textarea", { id, class: "secret", rows: 2, readonly: true, spellcheck: "false", value: secret, autofocus: true, on: { focus: () => field.select() } });
  return open(title, (close) => [
    h("p", {}, text),
    h("label", { for: id }, label),
    field,
    h("div", { class: "actions" }, copyButton("Copy", secret, { class: "primary" }), button("I have stored it", () => close())),
  ], true);
}
