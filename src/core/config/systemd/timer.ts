/**
 * Reads a timer and the service it starts: units in, jobs out, and a verdict for every line of both. A job gets what
 * systemd would give it: its account, its directory, its environment, no second run beside the first.
 */
import { REBOOT } from "../../cron/reboot.js";
import { readJobDefinition } from "../../job/schema.js";
import { formatDuration } from "../../time/duration.js";
import { SECOND_MS } from "../../time/instant.js";
import { parseCalendarEvent } from "./calendar.js";
import { scheduleOfEvent } from "./calendar-cron.js";
import { type SystemdReading, type SystemdRules, UnitNotes } from "./report.js";
import { deadlineOf, gapsOf, merged, type TimerSchedule, windowMsOf } from "./schedules.js";
import { readService, type ServiceJob } from "./service.js";
import { type Judgement, judgementOf } from "./settings.js";
import { parseTimeSpan } from "./time-span.js";
import type { Unit, UnitEntry } from "./unit.js";
import { isTrue, lastOf, listOf } from "./values.js";

/** The service that a timer starts: its own name, unless it says otherwise. */
export function serviceNameOf(timer: Unit): string {
  const said = lastOf(timer, "Timer", "Unit")?.value ?? "";
  return said === "" ? timer.name.replace(/\.timer$/, ".service") : said;
}

export function readTimer(timer: Unit, service: Unit | null, rules: SystemdRules): SystemdReading {
  const notes = new UnitNotes();
  for (const unit of service === null ? [timer] : [timer, service]) judgeUsual(unit, notes);
  const target = service === null ? missingService(timer, notes) : readService(service, rules, notes);
  const times = new TimerTimes(timer, rules, notes).read();
  if (timer.name.endsWith("@.timer")) {
    const instance = timer.name.replace("@.", "@main.");
    notes.problem(
      timer.file,
      1,
      "is a template, which runs nothing by itself",
      `name an instance of it, like ${instance}`,
    );
  }
  const jobs = target === null || notes.problems.length > 0 ? [] : jobsOf(timer, times, target, notes);
  return { name: timer.name, file: timer.file, jobs, lines: notes.lines(), problems: notes.problems };
}

/** All that the table knows by itself; the settings that the readers look at get their say there. */
function judgeUsual(unit: Unit, notes: UnitNotes): void {
  for (const entry of unit.entries) {
    const judgement = judgementOf(entry.section, entry.key);
    if (judgement !== null && isOff(entry, judgement)) notes.say(entry, "same");
    else if (judgement !== null) notes.say(entry, judgement.verdict, judgement.note);
    else if (READ.has(`${entry.section}.${entry.key}`)) notes.say(entry, "same");
    else notes.say(entry, "unsupported", `${entry.key} has no counterpart here`);
    const isKept = entry.value === "" || listOf(unit, entry.section, entry.key).includes(entry);
    if (!isKept) notes.say(entry, "noted", "taken back by a later line");
  }
  for (const entry of unit.broken) notes.refuse(entry, "is neither a section nor a setting", "write Key=value");
}

/** What is switched off is not missed. */
function isOff({ section, value }: UnitEntry, { verdict }: Judgement): boolean {
  return section === "Service" && verdict === "unsupported" && /^(0|n|no|f|false|off)?$/i.test(value);
}

const TIMER_KEYS =
  "Unit OnCalendar OnBootSec OnStartupSec OnActiveSec OnUnitActiveSec OnUnitInactiveSec RandomizedDelaySec FixedRandomDelay Persistent WakeSystem OnClockChange OnTimezoneChange";
const SERVICE_KEYS =
  "Restart RestartSec EnvironmentFile Type ExecStart ExecStartPre ExecStartPost User Group DynamicUser WorkingDirectory Environment UMask TimeoutSec TimeoutStartSec RuntimeMaxSec StandardOutput StandardInput RootDirectory RootImage PIDFile BusName";
const READ: ReadonlySet<string> = new Set([
  ...TIMER_KEYS.split(" ").map((key) => `Timer.${key}`),
  ...SERVICE_KEYS.split(" ").map((key) => `Service.${key}`),
  "Unit.StartLimitIntervalSec",
  "Unit.StartLimitBurst",
]);

function missingService(timer: Unit, notes: UnitNotes): null {
  const name = serviceNameOf(timer);
  notes.problem(timer.file, 1, `${name} is not there`, "give it along, or the directory in which both stand");
  return null;
}

/** When the service is started, in terms of jobs. */
interface Times {
  readonly schedules: readonly TimerSchedule[];
  readonly everyMs: readonly number[];
  readonly isAtBoot: boolean;
  readonly delayMs: number;
  readonly isPersistent: boolean;
  readonly delay: UnitEntry | null;
}

/** One reading of the [Timer] section. */
class TimerTimes {
  readonly #timer: Unit;
  readonly #rules: SystemdRules;
  readonly #notes: UnitNotes;
  readonly #schedules: TimerSchedule[] = [];
  readonly #everyMs: number[] = [];
  #isAtBoot = false;

  constructor(timer: Unit, rules: SystemdRules, notes: UnitNotes) {
    this.#timer = timer;
    this.#rules = rules;
    this.#notes = notes;
  }

  read(): Times {
    for (const entry of listOf(this.#timer, "Timer", "OnCalendar")) this.#readEvent(entry);
    for (const key of ["OnUnitActiveSec", "OnUnitInactiveSec"]) {
      for (const entry of listOf(this.#timer, "Timer", key)) this.#readInterval(entry);
    }
    for (const key of ["OnBootSec", "OnStartupSec", "OnActiveSec"]) {
      for (const entry of listOf(this.#timer, "Timer", key)) this.#readStart(entry);
    }
    for (const key of ["OnClockChange", "OnTimezoneChange", "WakeSystem"]) this.#refuseEvent(key);
    const delay = lastOf(this.#timer, "Timer", "RandomizedDelaySec");
    const isFixed = lastOf(this.#timer, "Timer", "FixedRandomDelay");
    if (isFixed !== null && isTrue(isFixed.value)) {
      this.#notes.say(isFixed, "noted", "each run gets a second of its own, always the same for the same period");
    }
    const delayMs = delay === null ? 0 : this.#span(delay);
    const isPersistent = isTrue(lastOf(this.#timer, "Timer", "Persistent")?.value ?? "");
    const schedules = merged(this.#schedules);
    if (schedules.length + this.#everyMs.length === 0 && !this.#isAtBoot && this.#notes.problems.length === 0) {
      this.#notes.problem(this.#timer.file, 1, "there is no time at which it would be started again");
    }
    return { schedules, everyMs: this.#everyMs, isAtBoot: this.#isAtBoot, delayMs, isPersistent, delay };
  }

  #readEvent(entry: UnitEntry): void {
    const event = parseCalendarEvent(entry.value);
    if (!event.ok) {
      this.#notes.refuse(entry, event.error.message, event.error.hint);
      return;
    }
    const schedule = scheduleOfEvent(event.value);
    if (!schedule.ok) {
      this.#notes.refuse(entry, schedule.error.message, schedule.error.hint);
      return;
    }
    const { schedule: fields, everyMs, only, notes } = schedule.value;
    for (const note of notes) this.#notes.say(entry, "noted", note);
    if (everyMs !== null) this.#everyMs.push(everyMs);
    else if (fields !== null) {
      this.#schedules.push({ schedule: fields, timezone: event.value.timezone ?? this.#rules.timezone, only });
    }
  }

  #readInterval(entry: UnitEntry): void {
    const ms = this.#span(entry);
    if (!Number.isFinite(ms) || ms < SECOND_MS) {
      this.#notes.refuse(entry, "an interval is from 1s to 8784h");
      return;
    }
    const from = entry.key === "OnUnitInactiveSec" ? "the start of a run, not from its end" : "the start of a run";
    this.#notes.say(
      entry,
      "noted",
      `becomes every ${formatDuration(Math.round(ms / SECOND_MS) * SECOND_MS)}, counted from ${from}`,
    );
    this.#everyMs.push(Math.round(ms / SECOND_MS) * SECOND_MS);
  }

  /** Beside an interval it says when that begins. A manager of the system starts with its boot, and so do its timers. */
  #readStart(entry: UnitEntry): void {
    const has = (...keys: readonly string[]): boolean => {
      return keys.some((key) => listOf(this.#timer, "Timer", key).length > 0);
    };
    const hasInterval = has("OnUnitActiveSec", "OnUnitInactiveSec");
    const isBoot = entry.key === "OnBootSec" || (entry.key === "OnStartupSec" && !this.#rules.isUser);
    const what = entry.key === "OnActiveSec" ? "the start of a timer" : isBoot ? "a boot" : "a login";
    if (hasInterval) {
      this.#notes.say(entry, "unsupported", `${what} starts no run: the interval is counted from the last one`);
    } else if (isBoot) {
      const later = this.#span(entry) > 0 ? `, not ${entry.value} later` : "";
      this.#notes.say(entry, "noted", `becomes @reboot: once a boot, as soon as krond has started${later}`);
      this.#isAtBoot = true;
    } else if (has("OnCalendar")) {
      this.#notes.say(entry, "unsupported", `${what} starts no run: the first is when its time has come`);
    } else this.#notes.refuse(entry, `${what} is not a period`, "run it from the service manager");
  }

  #refuseEvent(key: string): void {
    const entry = lastOf(this.#timer, "Timer", key);
    if (entry === null || !isTrue(entry.value)) return;
    const note = key === "WakeSystem" ? "a machine that sleeps is not woken" : "changes of the clock start nothing";
    this.#notes.say(entry, "unsupported", note);
  }

  #span(entry: UnitEntry): number {
    const ms = parseTimeSpan(entry.value);
    if (ms === null) this.#notes.refuse(entry, `"${entry.value}" is not a time span`, "write it like 1h 30min");
    return ms ?? 0;
  }
}

function jobsOf(timer: Unit, times: Times, target: ServiceJob, notes: UnitNotes): SystemdReading["jobs"] {
  const raws = [
    ...times.everyMs.map((ms) => intervalRaw(ms, times, notes)),
    ...times.schedules.map((schedule) => scheduleRaw(schedule, times, notes)),
    ...(times.isAtBoot ? [bootRaw(times, notes)] : []),
  ];
  const { repeats } = target;
  if (repeats !== null && times.everyMs.length > 0) {
    notes.say(repeats.entry, "unsupported", "a job with an interval is not tried again: it runs again anyway");
  }
  const [first] = timer.entries.filter(({ key }) => key.startsWith("On"));
  if (raws.length > 1 && first !== undefined) {
    notes.say(first, "noted", `becomes ${raws.length} jobs, which may run beside each other`);
  }
  const base = timer.name.replace(/\.timer$/, "");
  const identity = (index: number): string => (index === 0 ? base : `${base}-${index + 1}`);
  const described = lastOf(timer, "Unit", "Description")?.value ?? "";
  const read = raws.flatMap((raw, index) => {
    const more = described === "" || target.raw["description"] !== undefined ? {} : { description: described };
    const again = repeats === null || "every" in raw ? {} : { retry: repeats.retry };
    const definition = readJobDefinition({ identity: identity(index), ...raw, ...again, ...more, ...target.raw });
    if (definition.ok) return [definition.value];
    for (const { message, hint, path } of definition.error) {
      notes.problem(target.fileOf(path[0]) ?? timer.file, target.lineOf(path[0]), message, hint);
    }
    return [];
  });
  return notes.problems.length === 0 ? read : [];
}

type Raw = Readonly<Record<string, unknown>>;

function intervalRaw(everyMs: number, { delay, delayMs }: Times, notes: UnitNotes): Raw {
  if (delay !== null && delayMs > 0) notes.say(delay, "unsupported", "an interval has no window to choose a second in");
  return { every: formatDuration(everyMs), policy: { concurrency: "forbid", deadline: "1m" } };
}

function bootRaw({ delay, delayMs }: Times, notes: UnitNotes): Raw {
  if (delay !== null && delayMs > 0) notes.say(delay, "unsupported", "a boot has no window to choose a second in");
  return { schedule: REBOOT, policy: { concurrency: "forbid", deadline: "1h" } };
}

function scheduleRaw(times: TimerSchedule, { delay, delayMs, isPersistent }: Times, notes: UnitNotes): Raw {
  const { schedule, timezone, only } = times;
  const gaps = gapsOf(schedule) ?? { smallestMs: SECOND_MS, largestMs: SECOND_MS };
  const windowMs = windowMsOf(delayMs, gaps);
  if (delay !== null && delayMs > 0) noteDelay(delay, delayMs, windowMs, notes);
  if (delay !== null && only !== null && delayMs > 0) {
    notes.refuse(
      delay,
      `with it a run may leave the weekdays of ${only}`,
      "split the event in two, or leave the delay out",
    );
  }
  return {
    schedule,
    timezone,
    // As systemd does it: a time that a change of the clock skips has no run, one that it repeats has the first.
    dst: { gap: "skip", overlap: "first" },
    ...(windowMs === 0 ? {} : { window: { mode: "after", duration: formatDuration(windowMs) } }),
    ...(only === null ? {} : { constraints: { only } }),
    policy: { concurrency: "forbid", deadline: deadlineOf(isPersistent, windowMs, gaps) },
  };
}

function noteDelay(delay: UnitEntry, delayMs: number, windowMs: number, notes: UnitNotes): void {
  if (windowMs === 0) notes.say(delay, "noted", "shorter than a second: left out");
  else if (windowMs < delayMs) {
    const wanted = Number.isFinite(delayMs) ? formatDuration(delayMs) : "infinity";
    notes.say(
      delay,
      "noted",
      `becomes a window of ${formatDuration(windowMs)}, not ${wanted}, which would reach into the next period`,
    );
  }
}
