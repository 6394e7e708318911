// One endpoint: its settings, its health, and what can be done with it.
import { inPath } from "../lib/api.js";
import { confirm } from "../lib/dialog.js";
import { busy, button, facts, h, say } from "../lib/dom.js";
import { duration, instant, plural } from "../lib/format.js";
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

  /** attempt does something for a button, and shows what goes wrong. */
  const attempt = (work) => (event) => busy(event.currentTarget, async () => {
    problem.show(null);
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) problem.show(error);
    }
  });

  // What was asked for, or begun, before something else was opened comes too late.
  let asked = 0;

  async function load(number = ++asked) {
    try {
      const endpoint = await call("get");
      if (number === asked) show(endpoint);
    } catch (error) {
      if (signal.aborted) return;
      place.replaceChildren();
      problem.show(error);
    }
  }

  /** stand shows how it does, which changes by itself. */
  function stand(e) {
    standing.replaceChildren(h("div", { class: "headline" }, stateBadge(e), healthBadge(e), breakerBadge(e)), facts(healthFacts(e)));
  }

  function show(e) {
    stand(e);
    place.replaceChildren(
      standing,
      settingsOf(e),
      h("div", { class: "actions" },
        session.may("trigger") && [
          button("Send a test", attempt(test), { class: "primary" }),
          button("Replay what it missed", replay.open),
        ],
        session.may("write") && [
          button("Edit", () => edit(e)),
          button(e.enabled ? "Disable" : "Enable", attempt(() => change({ enabled: !e.enabled }))),
          button("Rotate the secret", attempt(rotate)),
          button("Delete", attempt(remove), { class: "danger" }),
        ]));
  }

  function edit(e) {
    asked++;
    const element = endpointForm({
      settings: e, action: "Save", cancel: () => show(e),
      submit: async (settings) => {
        const changes = changed(e, settings);
        if (Object.keys(changes).length > 0) await change(changes);
        else show(e);
      },
    });
    place.replaceChildren(h("section", { class: "panel" }, h("h2", {}, "Settings"), element));
    element.querySelector("input").focus();
  }

  async function change(changes) {
    const number = ++asked;
    await call("update", changes);
    await load(number);
    say("Saved.");
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
      text: "Webhooks are signed with the new secret at once, and with the old one beside it for 24 hours.",
    });
    if (!sure) return;
    const number = ++asked;
    await showVerifier(await call("rotate_secret"), "The new signing secret");
    await load(number);
  }

  async function remove() {
    const sure = await confirm({
      title: "Delete this endpoint?", action: "Delete", danger: true,
      text: "What is still to be retried there is given up. This cannot be undone.",
    });
    if (!sure) return;
    await call("delete");
    go("/endpoints");
  }

  load();
  poll({ signal, every: 3000, ask: async () => stand(await call("get")), failed: () => {} }); // load tells what fails
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
    ["Deliveries go to", h("span", { class: "url" }, e.url)],
    ["Description", e.description],
    ["Events", e.eventTypes.length === 0 ? "all" : e.eventTypes.join(", ")],
    ["Deliver", e.deliveryMode === "onChange" ? "only signals that changed" : "every signal"],
    ["Most deliveries a second", e.rateLimit > 0 ? `${e.rateLimit}` : "no limit"],
    ["Time-out", seconds(e.timeoutSeconds)],
    ["Retries", r.giveUpSeconds === 0 ? "none" : `after up to ${seconds(r.initialSeconds)}, then ${r.multiplier} times as long up to ${seconds(r.maxSeconds)}, for ${seconds(r.giveUpSeconds)}`],
    ["Headers", Object.keys(e.headers).length > 0 && h("pre", {}, Object.entries(e.headers).map(([n, v]) => `${n}: ${v}`).join("\n"))],
    ["Public key", e.publicKey && h("code", {}, e.publicKey)],
    ["Secret", `made ${instant(e.secretRotatedAt)}`],
    ["Created", instant(e.createdAt)],
    ["Changed", instant(e.updatedAt)],
  ]);
}

/** testResult is what came of a test. */
function testResult(d) {
  return h("section", { class: "panel", "aria-label": "The test" },
    h("h2", {}, "The test ", outcomeBadge(d.outcome)),
    facts([
      ["Answered", d.status ? `HTTP ${lastAnswer(d)}` : "There was no answer."],
      ["Took", took(d)],
      ["Reason", d.reason],
      ["Attempts", d.attempt > 0 && plural(d.attempt, "attempt")],
      ["Message (webhook-id)", d.id && h("code", {}, d.id)],
      ["Sent", instant(d.at)],
    ]),
    d.answer && answerOf(d));
}
