// Dialogs: modal, closed by Escape, and the focus returns to where it was.
import { button, h, say, uniqueId } from "./dom.js";

/** open shows a dialog with the content that build returns. build receives a function that closes the dialog. */
function open(title, build) {
  const id = uniqueId("dialog");
  const heading = h("h2", { id }, title);
  const element = h("dialog", { "aria-labelledby": id }, heading);
  return new Promise((resolve) => {
    let result;
    const close = (value) => {
      result = value;
      element.close();
    };
    element.append(...build(close));
    element.addEventListener("close", () => {
      element.remove();
      resolve(result);
    });
    document.body.append(element);
    element.showModal();
  });
}

/** confirm asks before an action, and returns whether to go on. */
export async function confirm({ title, text, action, danger = false }) {
  return (await open(title, (close) => [
    h("p", {}, text),
    h("div", { class: "actions" },
      button(action, () => close(true), { class: danger ? "danger" : "primary" }),
      button("Cancel", () => close(false), { autofocus: true })),
  ])) === true;
}

/** copyButton copies a text. Without a secure origin there is no clipboard, and no button. */
export function copyButton(label, text, properties = {}) {
  if (!navigator.clipboard) return null;
  const press = button(label, async () => {
    await navigator.clipboard.writeText(text);
    say("Copied.");
    press.textContent = "Copied";
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
  ]);
}
