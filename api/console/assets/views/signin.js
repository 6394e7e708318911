// The sign-in form. Only this tab stores the key.
import { h } from "../lib/dom.js";
import { field, form, text } from "../lib/form.js";
import { scopesOf, session as sessionOf } from "../lib/session.js";

export function signInView({ operator, notice, signIn }) {
  const key = text({ type: "password", required: true, autofocus: true });
  const organization = text();
  const element = h("div", { class: "narrow" },
    h("p", {}, operator
      ? "This is the operator's listener. Sign in with the operator key from the file operator.key in the data folder."
      : "Sign in with an API key of your organization. The key's scopes decide what you can see and change."),
    notice && h("p", { class: "notice", role: "alert" }, notice),
    form({
      label: "Sign in", action: "Sign in",
      fields: [
        field({ name: "key", label: operator ? "Operator key" : "API key", control: key, hint: "Only this browser tab stores the key, until you close it or sign out. It is sent only to this server." }),
        !operator && field({ name: "x-gridhook-organization", label: "Act for (optional)", control: organization, hint: "The id of a child organization, if yours is a channel partner." }),
      ],
      submit: async () => {
        const fresh = sessionOf({ key: key.value.trim(), organization: organization.value.trim() });
        if (operator) await fresh.client.call("/v1/admin/organizations/list", { limit: 1 });
        const scopes = await scopesOf(fresh.client);
        // A key without any scope here fails: it may not act for the organization.
        if (scopes.length === 0) await fresh.client.call("/v1/webhook/price_signal/trigger/list", { limit: 1 });
        signIn(sessionOf({ ...fresh, scopes }));
      },
    }));
  return { title: "Sign in", element };
}
