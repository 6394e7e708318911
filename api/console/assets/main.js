// The page: the session, the view of the address, and the frame.
import { auditView } from "./views/audit.js";
import { banner } from "./views/banner.js";
import { channelsView } from "./views/channels.js";
import { deliveryView } from "./views/delivery.js";
import { deviceView } from "./views/device.js";
import { endpointView } from "./views/endpoint.js";
import { endpointsView } from "./views/endpoints.js";
import { homeView } from "./views/home.js";
import { homesView } from "./views/homes.js";
import { keysView } from "./views/keys.js";
import { overviewView } from "./views/overview.js";
import { organizationsView } from "./views/organizations.js";
import { planView, plansView } from "./views/plans.js";
import { schedulesView } from "./views/schedules.js";
import { signInView } from "./views/signin.js";
import { sourcesView } from "./views/sources.js";
import { toolsView } from "./views/tools.js";
import { triggerView } from "./views/trigger.js";
import { triggersView } from "./views/triggers.js";
import { h } from "./lib/dom.js";
import { refreshTimes } from "./lib/parts.js";
import * as kept from "./lib/session.js";

/**
 * views are the pages by address, each for users with its scope. A view is a function
 * that returns a title and an element.
 */
const views = [
  { path: /^\/overview$/, section: "overview", name: "Overview", scope: "read", view: overviewView },
  { path: /^\/triggers$/, section: "triggers", name: "Triggers", view: triggersView },
  { path: /^\/triggers\/([\w-]+)$/, section: "triggers", scope: "read", view: triggerView },
  { path: /^\/deliveries\/([\w-]+)$/, section: "triggers", scope: "read", view: deliveryView },
  { path: /^\/schedules$/, section: "schedules", name: "Schedules", scope: "read", view: schedulesView },
  { path: /^\/endpoints$/, section: "endpoints", name: "Endpoints", scope: "read", view: endpointsView },
  { path: /^\/endpoints\/([\w-]+)$/, section: "endpoints", scope: "read", view: endpointView },
  { path: /^\/homes$/, section: "homes", name: "Homes", scope: "read", view: homesView },
  { path: /^\/homes\/([\w-]+)$/, section: "homes", scope: "read", view: homeView },
  { path: /^\/devices\/([\w-]+)$/, section: "homes", scope: "read", view: deviceView },
  { path: /^\/channels$/, section: "channels", name: "Channels", scope: "read", view: channelsView },
  { path: /^\/tools$/, section: "tools", name: "Tools", scope: "read", view: toolsView },
  { path: /^\/plans$/, section: "plans", name: "Plans", operator: true, view: plansView },
  { path: /^\/plans\/([\w-]+)$/, section: "plans", operator: true, view: planView },
  { path: /^\/sources$/, section: "sources", name: "Sources", operator: true, view: sourcesView },
  { path: /^\/keys$/, section: "keys", name: "Keys", operator: true, view: keysView },
  { path: /^\/audit$/, section: "audit", name: "Audit log", operator: true, view: auditView },
];

const main = document.getElementById("main");
const head = document.getElementById("banner");
let session = kept.load();
let leave = new AbortController();
let notice = "";

/** address parses the part after #: a path and query parameters. */
function address() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  return { path, parameters: new URLSearchParams(query) };
}

function signIn(fresh) {
  session = fresh;
  kept.save(fresh);
  show();
}

/** signOut ends the session. After an expired key, the next sign-in returns to the same view. */
function signOut(why = "") {
  kept.forget();
  if (!why) history.replaceState(null, "", location.pathname);
  session = null;
  notice = why;
  show();
}

/** open returns the view of the address, if the key's scopes allow it. */
function open(common) {
  if (!session) return { made: signInView({ ...common, notice, signIn }), sections: [] };
  if (kept.operator && !session.organization) return { made: organizationsView({ ...common, signIn }), sections: [] };
  const allowed = views.filter((v) => (!v.scope || session.may(v.scope)) && (!v.operator || kept.operator));
  const sections = allowed.filter((v) => v.name);
  const found = allowed.find((v) => v.path.test(common.path)) ?? sections[0];
  const parts = found.path.exec(common.path)?.slice(1) ?? [];
  return { made: found.view(common, ...parts), sections, current: found.section };
}

/** show replaces the current view with the view of the address. */
function show() {
  leave.abort();
  leave = new AbortController();
  const { path, parameters } = address();
  const go = (to) => { location.hash = to; };
  const { made, sections, current } = open({ session, path, parameters, go, signal: leave.signal, operator: kept.operator, reload: show });
  notice = "";
  head.replaceChildren(...banner({ session, sections, current, operator: kept.operator, signIn, signOut }));
  const title = h("h1", { tabindex: -1 }, made.title);
  main.replaceChildren(...[made.above, title, made.element].filter(Boolean));
  document.title = `${made.title} · Gridhook`;
  (main.querySelector("[autofocus]") ?? title).focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

// A key that is no longer valid ends the session, whichever request finds it.
document.addEventListener("gridhook:signed-out", () => {
  if (session) signOut("The key is no longer valid. Sign in with another.");
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address says which view is open
  main.focus();
});

/** openLink signs in with the key of a console link. */
async function openLink(key) {
  kept.forget();
  session = null;
  try {
    const fresh = kept.session({ key });
    signIn(kept.session({ key, scopes: await kept.scopesOf(fresh.client) }));
  } catch (error) {
    signOut(error.status !== 401 ? error.message : "The link is not valid: it expired or was revoked. Ask for a new link.");
  }
}

/** arrive shows the view of the address, or opens the link in it. No address keeps a key. */
function arrive() {
  const link = /^#\/link\/(.*)$/.exec(location.hash);
  if (link) history.replaceState(null, "", location.pathname);
  if (link && !kept.operator) return openLink(link[1]);
  if (link) notice = "The link opens the partners' console. Open it at the public listener.";
  return show();
}

window.addEventListener("hashchange", arrive);
setInterval(refreshTimes, 5000);
arrive();
