// The request of a delivery: headers, body, and the same as a curl command.
import { inPath } from "../lib/api.js";
import { copyButton } from "../lib/dialog.js";
import { button, h } from "../lib/dom.js";
import { problemBox } from "../lib/problem.js";

/** sources say how the body was made: Gridhook stores no bodies. */
const sources = {
  STORED: "Gridhook stores no bodies. It made this body of the inputs that it stored with the delivery: it is as it was sent.",
  REBUILT: "Gridhook stores no bodies. It made this body again. The home and the endpoint have not changed since the trigger: it is as it was sent.",
  CHANGED: "Gridhook stores no bodies. It made this body again, and the home, its prices or the endpoint have changed since the trigger. The body that was sent may differ.",
};

/** requestPart shows the request of a delivery when it is asked for. */
export function requestPart({ client }, id, signal) {
  const problem = problemBox();
  const place = h("div", { class: "request" });
  const show = button("Show the request", problem.press(async () => {
    place.replaceChildren(...requestOf(await client.call(`/v1/webhook/deliveries/${inPath(id)}/request`, {}, { signal })));
    show.hidden = true;
    place.querySelector("h3").focus();
  }), { data: { part: "request" } });
  return h("div", {}, h("div", { class: "actions" }, show), problem.element, place);
}

function requestOf(r) {
  const lines = [`POST ${r.url}`, ...Object.entries(r.headers).sort().map(([name, value]) => `${name}: ${value}`)];
  const signed = r.headers["Webhook-Signature"];
  return [
    h("h3", { tabindex: -1 }, "Request"),
    h("p", { class: "hint" }, sources[r.bodySource] ?? r.bodySource, " Secrets are masked. A compressed or batched request is shown uncompressed, with this message only."),
    block("Request line and headers", lines.join("\n")),
    h("p", { class: "hint" }, signed
      ? ["Webhook-Signature signs ", h("code", {}, "webhook-id.webhook-timestamp.body"), ", as of now. A receiver that verifies by Standard Webhooks accepts it for 5 minutes."]
      : "Only a key with the scope trigger gets a signature."),
    block("Body", pretty(r.body)),
    h("div", { class: "actions" }, copyButton("Copy as curl", curl(r)), copyButton("Copy the body", r.body)),
  ];
}

const block = (label, text) => h("pre", { tabindex: 0, role: "group", "aria-label": label }, text);

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** quoted quotes a text for a POSIX shell. */
export const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** curl is the request as a command. The body stays byte for byte as it is signed. */
export const curl = ({ url, headers, body }) => ["curl -X POST", quoted(url),
  ...Object.entries(headers).sort().map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), `--data-raw ${quoted(body)}`].join(" \\\n  ");
