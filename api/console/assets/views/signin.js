// The way in: a key, which stays in this tab.
import { h } from "../lib/dom.js";
import { field, form, text } from "../lib/form.js";
import { scopesOf, session as sessionOf } from "../lib/session.js";

export function signInView({ operator, notice, signIn }) {
  const key = text({ type: "password", required: true, autofocus: true });
  const organization = text();
  const element = h("div", { class: "narrow" },
    h("p", {}, operator
      ? "This is the operator's listener. Sign in with the operator's key; it is in the data folder, in the file operator.key."
      : "Sign in with an API key of your organization. You see and change what the key may."),
    notice && h("p", { class: "notice", role: "alert" }, notice),
    form({
      label: "Sign in", action: "Sign in",
      fields: [
        field({ name: "key", label: operator ? "Operator key" : "API key", control: key, hint: "It is kept by this browser tab until you close it or sign out, and sent nowhere but to this server." }),
        !operator && field({ name: "x-gridhook-organization", label: "Act for (optional)", control: organization, hint: "The identifier of a child organization, if yours is a channel partner." }),
      ],
      submit: async () => {
        const fresh = sessionOf({ key: key.value.trim(), organization: organization.value.trim() });
        if (operator) await fresh.client.call("/v1/admin/organizations/list", { limit: 1 });
        const scopes = await scopesOf(fresh.client);
        // What may do nothing says why: the organization is not the key's to act for.
        if (scopes.length === 0) await fresh.client.call("/v1/webhook/price_signal/trigger/list", { limit: 1 });
        signIn(sessionOf({ ...fresh, scopes }));
      },
    }));
  return { title: "Sign in", element };
}
