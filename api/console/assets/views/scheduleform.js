// The form of a schedule, to create or change it.
import { h } from "../lib/dom.js";
import { checkbox, field, number, select, text } from "../lib/form.js";
import { ownZone } from "../lib/format.js";

/** scheduleForm sends the settings to submit. settings is null for a new schedule. */
export function scheduleForm(settings, submit) {
  const kind = select([["every", "at an interval"], ["cron", "by cron, in a time zone"], ["prices", "when prices change, for the affected homes"]],
    settings?.onPriceChange ? "prices" : settings?.cron ? "cron" : "every");
  const minutes = number({ value: settings?.everyMinutes ?? 15, min: 1, max: 1440, step: 1 });
  const cron = text({ value: settings?.cron ?? "0 6 * * *" });
  const zone = text({ value: settings?.timezone ?? ownZone() });
  const offset = number({ value: settings?.window.offsetMinutes ?? 0, min: 0, step: 15 });
  const length = number({ value: settings?.window.lengthMinutes ?? 1440, min: 15, step: 15 });
  const description = text({ value: settings?.description ?? "", maxlength: 500 });
  const enabled = checkbox(settings?.enabled ?? true);
  const every = h("div", {}, field({ name: "everyMinutes", label: "Interval (minutes)", control: minutes, hint: "At its multiples since 1970 UTC: 15 runs at each quarter hour." }));
  const clock = h("div", { class: "row" },
    field({ name: "cron", label: "Cron", control: cron, hint: "Minute, hour, day of month, month, day of week (0 is Sunday)." }),
    field({ name: "timezone", label: "Time zone", control: zone }));

  function choose() {
    every.hidden = kind.value !== "every";
    clock.hidden = kind.value !== "cron";
  }
  kind.addEventListener("change", choose);
  choose();

  const numeric = (control) => (control.value === "" ? null : Number(control.value));
  const rules = {
    every: () => ({ everyMinutes: numeric(minutes) }),
    cron: () => ({ cron: cron.value.trim(), timezone: zone.value.trim() }),
    prices: () => ({ onPriceChange: true }),
  };
  const read = () => ({
    ...rules[kind.value](),
    window: { offsetMinutes: numeric(offset), lengthMinutes: numeric(length) },
    description: description.value, enabled: enabled.checked,
  });

  return {
    submit: () => submit(read()),
    fields: [
      field({ name: "kind", label: "Run", control: kind }), every, clock,
      h("div", { class: "row" },
        field({ name: "window.offsetMinutes", label: "Window starts after (minutes)", control: offset }),
        field({ name: "window.lengthMinutes", label: "Window length (minutes)", control: length })),
      field({ name: "description", label: "Description", control: description }),
      field({ name: "enabled", label: "Enabled", control: enabled }),
    ],
  };
}
