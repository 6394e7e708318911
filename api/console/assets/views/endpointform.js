// The form of an endpoint's settings, to create or change it.
import { Problem } from "../lib/api.js";
import { button, h } from "../lib/dom.js";
import { enums } from "../lib/enums.js";
import { checkbox, choices, field, form, number, select, text } from "../lib/form.js";
import { headersText, parseHeaders } from "../lib/settings.js";

/** defaults are the API's defaults. */
const defaults = {
  url: "", description: "", eventTypes: [], enabled: true, headers: {}, rateLimit: 0, timeoutSeconds: 10, deliveryMode: "always",
  retryPolicy: { initialSeconds: 5, multiplier: 2, maxSeconds: 900, giveUpSeconds: 86400, disableAfterSeconds: 432000 },
};

const events = choices(enums.EventType, {
  "price_signal.updated": "A home's new price signal",
  "openadr.event.updated": "A home's new price signal as an OpenADR event",
  "price_signal.changed": "A home's new price signal, without its prices",
  "price_signal.trigger.completed": "A trigger is completed",
  "endpoint.disabled": "Another endpoint was disabled: it responded 410 or failed for too long",
  "flex_alert": "A grid operator asks homes to use less",
  "webhook.test": "Tests",
}).filter(([name]) => name !== "webhook.test"); // a test is sent whatever the list says

const modes = choices(enums.DeliveryMode, { always: "every signal", onChange: "only signals that changed" });

/** signatures are chosen when an endpoint is created. A new secret keeps them. */
const signatures = choices(enums.Signature, {
  hmac: "HMAC-SHA256, verified with a shared secret", ed25519: "Ed25519, verified with a public key",
});

/** endpointForm calls submit with all settings. A fresh endpoint has its signature too. */
export function endpointForm({ settings = defaults, fresh = false, action, submit, cancel }) {
  const url = text({ type: "url", value: settings.url, placeholder: "https://example.com/hooks", inputmode: "url" });
  const description = text({ value: settings.description, maxlength: 500 });
  const enabled = checkbox(settings.enabled);
  const mode = select(modes, settings.deliveryMode);
  const timeout = number({ value: settings.timeoutSeconds, min: 0.1, max: 60 });
  const limit = number({ value: settings.rateLimit, min: 0 });
  const signature = fresh && select(signatures, "hmac");
  const headers = h("textarea", { rows: 3, spellcheck: "false" });
  headers.value = headersText(settings.headers);
  const retry = retryFields(settings.retryPolicy);
  const kinds = eventFields(settings.eventTypes);

  function read() {
    const parsed = parseHeaders(headers.value);
    if (parsed.wrong !== null) throw invalid("headers", `must have one "Name: value" per line, not "${parsed.wrong}"`);
    return {
      url: url.value.trim(), description: description.value, eventTypes: kinds.read(), enabled: enabled.checked, headers: parsed.headers,
      ...(fresh && { signature: signature.value }),
      rateLimit: numeric(limit), timeoutSeconds: numeric(timeout), deliveryMode: mode.value, retryPolicy: retry.read(),
    };
  }

  return form({
    label: "Endpoint settings", action, submit: () => submit(read()),
    fields: [
      field({ name: "url", label: "URL", control: url }),
      field({ name: "description", label: "Description", control: description }),
      field({ name: "enabled", label: "Enabled", control: enabled, hint: "Gridhook sends nothing to a disabled endpoint." }),
      h("div", { class: "row" },
        field({ name: "deliveryMode", label: "Delivery mode", control: mode }),
        field({ name: "timeoutSeconds", label: "Timeout (seconds)", control: timeout }),
        field({ name: "rateLimit", label: "Rate limit (deliveries per second)", control: limit, hint: "For each worker process. 0 means no limit." })),
      retry.element,
      h("details", {}, h("summary", {}, fresh ? "Events, headers and signature" : "Events and headers"), kinds.element,
        field({ name: "headers", label: "Custom headers", control: headers, hint: "One per line: Name: value" }),
        fresh && field({ name: "signature", label: "Sign with", control: signature })),
    ],
    extra: [button("Cancel", cancel)],
  });
}

/** invalid is the problem of a field that the form does not send. */
const invalid = (field, message) => new Problem({ message: "A setting is not valid.", error_code: "NOT_SENT", field_errors: [{ field, message }] });

/** numeric is a number, or null if the field is empty. */
const numeric = (control) => (control.value === "" ? null : Number(control.value));

function retryFields(policy) {
  const names = [
    ["initialSeconds", "First delay (seconds)"], ["multiplier", "Multiplier per attempt"],
    ["maxSeconds", "Longest delay (seconds)"], ["giveUpSeconds", "Give up after (seconds)"],
    ["disableAfterSeconds", "Disable after failing for (seconds)"],
  ];
  const controls = names.map(([name]) => number({ value: policy[name], min: 0 }));
  return {
    element: h("fieldset", {}, h("legend", {}, "Retries"),
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
    // An empty list means all events, so that no list means none. A list keeps webhook.test,
    // because without it a list of tests alone would be empty.
    read: () => {
      const checked = events.filter((_, i) => controls[i].checked).map(([name]) => name);
      const wanted = [...checked, ...chosen.filter((name) => name === "webhook.test")];
      if (wanted.length === 0) throw invalid("eventTypes", "must have at least one event");
      return checked.length === events.length ? [] : wanted;
    },
  };
}
