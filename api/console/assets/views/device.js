// A thermostat: its state and its schedule.
import { inPath } from "../lib/api.js";
import { button, h, replace, say } from "../lib/dom.js";
import { problemBox } from "../lib/problem.js";
import { valuesOf } from "../lib/values.js";

export function deviceView({ session, signal }, id) {
  const problem = problemBox();
  const place = h("div", {}, h("p", { class: "nothing" }, "Loading…"));
  const call = (verb, input) => session.client.call(`/v1/devices/hvac/${inPath(id)}/${verb}`, input, { signal });

  async function load() {
    try {
      const { lastOptimizationRunData: _, ...device } = await call("get");
      const preferences = await call("user_preferences/get").catch((error) => {
        if (error.status === 404) return null;
        throw error;
      });
      replace(place, valuesOf({ ...device, ...(preferences && { userPreferences: preferences }) }, 2),
        h("p", {}, "Home ", h("a", { href: `#/homes/${device.homeId}` }, device.homeId)),
        session.may("write") && h("div", { class: "actions" }, button(device.linked ? "Unlink" : "Link", problem.press(async () => {
          await call("linked", { linked: !device.linked });
          await load();
          say("Saved.");
        }), { data: { part: "linked" } })));
    } catch (error) {
      if (signal.aborted) return;
      place.replaceChildren();
      problem.show(error);
    }
  }

  load();
  return { title: id, above: h("p", { class: "crumb" }, h("a", { href: "#/homes" }, "Homes")), element: h("div", {}, problem.element, place) };
}
