// The form of an endpoint's settings, for one that is made and one that is changed.
import { Problem } from "../lib/api.js";
import { button, h } from "../lib/dom.js";
import { checkbox, field, form, number, select, text } from "../lib/form.js";
import { headersText, parseHeaders } from "../lib/settings.js";

/** defaults are those of the API, shown before anything is sent. */
const defaults = {
  url: "", description: "", eventTypes: [], enabled: true, headers: {}, rateLimit: 0, timeoutSeconds: 10, deliveryMode: "always",
  retryPolicy: { initialSeconds: 5, multiplier: 2, maxSeconds: 900, giveUpSeconds: 86400, disableAfterSeconds: 432000 },
};

const events = [
  ["price_signal.updated", "A home's new price signal"],
  ["price_signal.trigger.completed", "A trigger has come to its end"],
  ["endpoint.disabled", "Another endpoint was disabled, as it answered 410 or failed for too long"],
  ["webhook.test", "Tests"],
];

/** signatures are chosen when an endpoint is made; rotating its secret keeps them. */
const signatures = [["hmac", "HMAC-SHA256, verified with a shared secret"], ["ed25519", "Ed25519, verified with a public key"]];

/** endpointForm calls submit with all settings, and for one that is fresh with how it signs. */
export function endpointForm({ settings = defaults, fresh = false, action, submit, cancel }) {
  const url = text({ type: "url", value: settings.url, placeholder: "https://example.com/hooks", inputmode: "url" });
  const description = text({ value: settings.description, maxlength: 500 });
  const enabled = checkbox(settings.enabled);
  const mode = select([["always", "every signal"], ["onChange", "only signals that changed"]], settings.deliveryMode);
  const timeout = number({ value: settings.timeoutSeconds, min: 0.1, max: 60 });
  const limit = number({ value: settings.rateLimit, min: 0 });
  const signature = fresh && select(signatures, "hmac");
  const headers = h("textarea", { rows: 3, spellcheck: "false" });
  headers.value = headersText(settings.headers);
  const retry = retryFields(settings.retryPolicy);
  const kinds = eventFields(settings.eventTypes);

  function read() {
    const parsed = parseHeaders(headers.value);
    if (parsed.wrong !== null) {
      throw new Problem({
        message: "A header is not written as one.", error_code: "NOT_SENT",
        field_errors: [{ field: "headers", message: `must be lines of "Name: value", not "${parsed.wrong}"` }],
      });
    }
    return {
      url: url.value.trim(), description: description.value, eventTypes: kinds.read(), enabled: enabled.checked, headers: parsed.headers,
      ...(fresh && { signature: signature.value }),
      rateLimit: numeric(limit), timeoutSeconds: numeric(timeout), deliveryMode: mode.value, retryPolicy: retry.read(),
    };
  }

  return form({
    label: "The endpoint's settings", action, submit: () => submit(read()),
    fields: [
      field({ name: "url", label: "URL", control: url }),
      field({ name: "description", label: "Description", control: description }),
      field({ name: "enabled", label: "Enabled", control: enabled, hint: "Nothing is delivered to an endpoint that is not." }),
      h("div", { class: "row" },
        field({ name: "deliveryMode", label: "Deliver", control: mode }),
        field({ name: "timeoutSeconds", label: "Time-out, seconds", control: timeout }),
        field({ name: "rateLimit", label: "Most deliveries a second", control: limit, hint: "0 is without a limit." })),
      retry.element,
      h("details", {}, h("summary", {}, "Events, headers and signature"), kinds.element,
        field({ name: "headers", label: "Headers to send along", control: headers, hint: "A line each: Name: value" }),
        fresh && field({ name: "signature", label: "Sign with", control: signature })),
    ],
    extra: [button("Cancel", cancel)],
  });
}

/** numeric is a number, or null for the API to say what is wrong. */
const numeric = (control) => (control.value === "" ? null : Number(control.value));

function retryFields(policy) {
  const names = [
    ["initialSeconds", "First pause, seconds"], ["multiplier", "Each pause longer by"],
    ["maxSeconds", "Longest pause, seconds"], ["giveUpSeconds", "Give up after, seconds"],
    ["disableAfterSeconds", "Disable after failing for, seconds"],
  ];
  const controls = names.map(([name]) => number({ value: policy[name], min: 0 }));
  return {
    element: h("fieldset", {}, h("legend", {}, "When a delivery fails"),
      h("div", { class: "row" }, names.map(([name, label], i) => field({ name: `retryPolicy.${name}`, label, control: controls[i] })))),
    read: () => Object.fromEntries(names.map(([name], i) => [name, numeric(controls[i])])),
  };
}

function eventFields(chosen) {
  const controls = events.map(([name]) => checkbox(chosen.length === 0 || chosen.includes(name)));
  return {
    element: h("fieldset", { data: { field: "eventTypes" } }, h("legend", {}, "Events to send"),
      events.map(([name, meaning], i) => field({ name, label: [h("code", {}, name), ` ${meaning}`], control: controls[i] })),
      h("p", { class: "field-error" })),
    // None of them means all, to the API; so does each of them.
    read: () => {
      const wanted = events.filter((_, i) => controls[i].checked).map(([name]) => name);
      return wanted.length === events.length ? [] : wanted;
    },
  };
}
