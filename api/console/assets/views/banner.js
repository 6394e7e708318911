// The frame: navigation, session and theme.
import { button, h } from "../lib/dom.js";
import { find } from "../lib/find.js";
import { field, select, text } from "../lib/form.js";
import { named } from "../lib/session.js";

function themeChoice() {
  const control = select([["", "System"], ["light", "Light"], ["dark", "Dark"]], document.documentElement.dataset.theme ?? "");
  control.addEventListener("change", () => {
    if (control.value) document.documentElement.dataset.theme = control.value;
    else delete document.documentElement.dataset.theme;
    try {
      localStorage.setItem("theme", control.value);
    } catch {
      // Then it applies to this page only.
    }
  });
  return field({ name: "theme", label: "Theme", control });
}

/** searchBox opens the object with an identifier. */
function searchBox(session) {
  const control = text({ type: "search", placeholder: "Find by id", "aria-label": "Find a home, message, trigger, endpoint or device by its id" });
  return h("search", {}, h("form", {
    "aria-label": "Find by id", novalidate: true, on: {
      submit: async (event) => {
        event.preventDefault();
        control.setCustomValidity("");
        if (!control.value.trim()) return;
        try {
          location.hash = await find(session.client, control.value.trim());
        } catch (error) {
          control.setCustomValidity(error.message);
          control.reportValidity();
        }
      },
    },
  }, control));
}

/** banner returns the top of every view. */
export function banner({ session, sections, current, operator, signIn, signOut }) {
  const change = operator && session?.organization &&
    button("Change", () => signIn({ ...session, organization: "" }), { class: "link", "aria-label": "Change the organization" });
  return [
    h("p", { class: "brand" }, h("span", { class: "mark", "aria-hidden": "true" }), "Gridhook", operator && h("span", { class: "hint" }, " operator")),
    sections.length > 0 && h("nav", { "aria-label": "Console" }, h("ul", {}, sections.map((v) =>
      h("li", {}, h("a", { href: `#/${v.section}`, "aria-current": v.section === current && "page" }, v.name))))),
    sections.length > 0 && session.may("read") && searchBox(session),
    h("div", { class: "who" },
      session && (session.organization || !operator) && h("span", { class: "organization" }, h("span", { class: "unseen" }, "Acting for "), named(session)),
      change,
      session && button("Sign out", () => signOut(), { class: "link" }),
      themeChoice()),
  ].filter(Boolean);
}
