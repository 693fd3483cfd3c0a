import { resolve } from "node:path";
import { hostTimezone } from "../../../actors/host-zone.js";
import { crontabFormOf, crontabOwnerOf } from "../../../core/config/crontab/report.js";
import { zoneOf } from "../../../core/time/zone.js";
import type { ConfigSource } from "../../../persist/configuration.js";
import type { CliIo } from "../../io.js";

/** What cron would take the file for: its place tells the form and the owner. */
export function crontabSource(name: string, io: CliIo): ConfigSource {
  const path = resolve(io.cwd, name);
  const form = crontabFormOf(path) ?? "user";
  const zone = zoneOf(hostTimezone());
  const timezone = zone.ok ? zone.value.id : "UTC";
  return { path, name, crontab: { form, timezone, owner: form === "user" ? crontabOwnerOf(path) : null } };
}
