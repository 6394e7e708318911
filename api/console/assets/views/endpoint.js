// One endpoint: its settings, health and actions.
import { inPath } from "../lib/api.js";
import { confirm } from "../lib/dialog.js";
import { button, facts, h, replace, say } from "../lib/dom.js";
import { count, duration, instant, plural, price } from "../lib/format.js";
import { lastAnswer, outcomeBadge, took } from "../lib/parts.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";
import { changed } from "../lib/settings.js";
import { answerOf, logOf } from "./deliveries.js";
import { endpointForm } from "./endpointform.js";
import { stateBadge } from "./endpoints.js";
import { showVerifier } from "./endpointsecret.js";
import { breakerBadge, healthBadge, healthFacts } from "./health.js";
import { replayPart } from "./replay.js";

export function endpointView({ session, signal, go }, id) {
  const problem = problemBox();
  const place = h("div", {}, h("p", { class: "nothing" }, "Loading…"));
  const standing = h("div");
  const result = h("div", { role: "status" });
  const log = logOf(session, signal, { endpointId: id });
  const replay = replayPart({ session, signal }, id, log.refresh);
  const call = (verb, input) => session.client.call(`/v1/webhook/endpoints/${inPath(id)}/${verb}`, input);

  // The endpoint whose settings are shown, or are in the open form.
  let shown = null;
  let editing = false;

  /** stand shows the health, which changes by itself. */
  function stand(e) {
    standing.replaceChildren(h("div", { class: "headline" }, stateBadge(e), healthBadge(e), breakerBadge(e)), facts(healthFacts(e)));
  }

  function show(e) {
    shown = e;
    stand(e);
    replace(place,
      standing,
      settingsOf(e),
      h("div", { class: "actions" },
        session.may("trigger") && [
          button("Send a test", problem.press(test), { class: "primary", data: { part: "test" } }),
          button("Replay missed deliveries", replay.open),
        ],
        session.may("write") && [
          button("Edit", () => edit(e), { data: { part: "edit" } }),
          button(e.enabled ? "Disable" : "Enable", problem.press(() => setEnabled(!e.enabled)), { data: { part: "enabled" } }),
          button("Rotate secret", problem.press(rotate), { data: { part: "rotate" } }),
          button("Delete", problem.press(remove), { class: "danger" }),
        ]));
  }

  function edit(e) {
    editing = true;
    const close = () => {
      editing = false;
      show(shown);
      place.querySelector("[data-part=edit]").focus();
    };
    const element = endpointForm({
      settings: e, action: "Save", cancel: close,
      submit: async (settings) => {
        const changes = changed(e, settings);
        if (Object.keys(changes).length > 0) await change(changes);
        close();
      },
    });
    place.replaceChildren(h("section", { class: "panel" }, h("h2", {}, "Settings"), element));
    element.querySelector("input").focus();
  }

  async function change(changes) {
    show(await call("update", changes));
    say("Saved.");
  }

  /** setEnabled asks before it disables: deliveries stop at once. */
  async function setEnabled(enabled) {
    const sure = enabled || await confirm({
      title: "Disable this endpoint?", action: "Disable", danger: true,
      text: `Gridhook sends nothing to it until you enable it. Triggers skip it, and Gridhook drops its waiting retries: ${await waiting()}.`,
    });
    if (sure) await change({ enabled });
  }

  /** waiting is the number of deliveries that wait for a retry, as far as one page shows them. */
  async function waiting() {
    const { data, next } = await session.client.call("/v1/webhook/deliveries/list", { endpointId: id, outcome: "RETRYING", limit: 1000 });
    return `${next ? "at least " : ""}${count(data.length)}`;
  }

  async function test() {
    result.replaceChildren(h("p", { class: "nothing" }, "Sending…"));
    try {
      result.replaceChildren(testResult(await call("test")));
    } catch (error) {
      result.replaceChildren();
      throw error;
    }
  }

  async function rotate() {
    const sure = await confirm({
      title: "Rotate the signing secret?", action: "Rotate",
      text: "Gridhook signs with the new secret at once. It signs with the old secret too for 24 hours.",
    });
    if (!sure) return;
    const rotated = await call("rotate_secret");
    show(rotated);
    await showVerifier(rotated, "The new signing secret");
  }

  async function remove() {
    const sure = await confirm({
      title: "Delete this endpoint?", action: "Delete", danger: true,
      text: "Gridhook stops retrying its deliveries. You cannot undo this.",
    });
    if (!sure) return;
    await call("delete");
    go("/endpoints");
  }

  poll({
    signal, every: 3000,
    failed: (error) => {
      if (shown) return; // what is shown stays
      place.replaceChildren();
      problem.show(error);
    },
    ask: async () => {
      const before = shown;
      const e = await call("get");
      if (shown !== before) return; // a newer response is shown
      if (!before) problem.show(null);
      // Gridhook or another user may have changed the endpoint.
      if (!editing && !(before?.enabled === e.enabled && before.updatedAt === e.updatedAt)) show(e);
      else stand(e);
      await log.fill();
    },
  });
  return {
    title: id, above: h("p", { class: "crumb" }, h("a", { href: "#/endpoints" }, "Endpoints")),
    element: h("div", {}, problem.element, place, result, replay.element, log.element),
  };
}

function settingsOf(e) {
  const r = e.retryPolicy;
  const seconds = (n) => duration(n * 1000);
  return facts([
    ["Disabled", e.disabled && `${instant(e.disabled.at)}: ${e.disabled.detail}`],
    ["URL", h("span", { class: "url" }, e.url)],
    ["Description", e.description],
    ["Events", e.eventTypes.length === 0 ? "all" : e.eventTypes.join(", ")],
    ["Delivery mode", e.deliveryMode === "onChange" ? `only signals that changed${e.minPriceChange > 0 ? ` by more than ${price(e.minPriceChange)}` : ""}` : "every signal"],
    ["Only homes", e.homeIds.join(", ")],
    ["Only rate plans", e.ratePlanIds.join(", ")],
    ["Format", e.format !== "signal" && e.format],
    ["Batches", e.batchSize > 1 && `up to ${plural(e.batchSize, "home")} per request`],
    ["Compression", e.compression !== "none" && e.compression],
    ["Authentication", [e.authentication?.type, e.clientCertificate && "client certificate"].filter(Boolean).join(", ")],
    ["Rate limit", e.rateLimit > 0 ? `${e.rateLimit} deliveries per second` : "none"],
    ["Timeout", seconds(e.timeoutSeconds)],
    ["Retries", r.giveUpSeconds === 0 ? "none" : `first delay up to ${seconds(r.initialSeconds)}, times ${r.multiplier} per attempt, at most ${seconds(r.maxSeconds)}; gives up after ${seconds(r.giveUpSeconds)}`],
    ["Headers", Object.keys(e.headers).length > 0 && h("pre", {}, Object.entries(e.headers).map(([n, v]) => `${n}: ${v}`).join("\n"))],
    ["Public key", e.publicKey && h("code", {}, e.publicKey)],
    ["Secret", `created ${instant(e.secretRotatedAt)}`],
    ["Created", instant(e.createdAt)],
    ["Updated", instant(e.updatedAt)],
  ]);
}

/** testResult is the result of a test. */
function testResult(d) {
  return h("section", { class: "panel", "aria-label": "Test result" },
    h("h2", {}, "Test ", outcomeBadge(d.outcome)),
    facts([
      ["Response", d.status ? `HTTP ${lastAnswer(d)}` : "none"],
      ["Duration", took(d)],
      ["Reason", d.reason],
      ["Attempts", d.attempt > 0 && plural(d.attempt, "attempt")],
      ["Message (webhook-id)", d.id && h("code", {}, d.id)],
      ["Sent", instant(d.at)],
    ]),
    d.answer && answerOf(d));
}
