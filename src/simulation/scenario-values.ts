/** From the written values of a scenario to what they mean. Used for files and for flags alike. */
import { type Problem, problemAt } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { type HintWish, readHint } from "../core/governor/hint.js";
import { parseInstant } from "../core/time/instant.js";
import type { RunRule } from "./run-rules.js";
import type { Act, Deed, Moment, PlannedAct } from "./scenario.js";
import type { RawAct, RawRun } from "./scenario-shape.js";
import { parseLaw, parseShift, parseSpan } from "./span.js";

const PERCENT = /^(\d{1,3}(?:\.\d{1,9})?)%$/;

/** `5%` as 0.05. */
function parseChance(text: string): Result<number, Problem> {
  const share = Number(PERCENT.exec(text)?.[1] ?? Number.NaN);
  if (share <= 100) return ok(share / 100);
  const message = `not a share: ${JSON.stringify(text)}`;
  return err({ code: "field-range", message, path: [], span: { start: 0, end: text.length }, hint: "write 5%" });
}

type Reader<T> = (text: string) => Result<T, Problem>;

/** Reads values field by field and remembers what is wrong with any of them. */
class Fields {
  readonly problems: Problem[] = [];

  read<T>(field: string, text: string | undefined, parse: Reader<T>): T | undefined {
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value.ok) return value.value;
    this.problems.push(problemAt(value.error, field));
    return undefined;
  }

  missing(field: string, what: string): void {
    this.problems.push({ code: "field-missing", message: `missing field "${field}"`, path: [], hint: what });
  }
}

export function readRun(raw: RawRun): Result<RunRule, readonly Problem[]> {
  const fields = new Fields();
  const duration = fields.read("duration", raw.duration, parseLaw);
  const failChance = fields.read("fail", raw.fail, parseChance);
  const refuseChance = fields.read("refuse_chance", raw.refuse_chance, parseChance);
  const lostStartChance = fields.read("lost_start", raw.lost_start, parseChance);
  const armMs = fields.read("spawn", raw.spawn, parseSpan);
  if (raw.exit !== undefined && raw.signal !== undefined) {
    const message = "a run that fails ends with an exit code or by a signal, not both";
    fields.problems.push({ code: "field-conflict", message, path: ["signal"] });
  }
  if (raw.status !== undefined && raw.answer !== undefined) {
    const message = "a request that fails has a status or no answer, not both";
    fields.problems.push({ code: "field-conflict", message, path: ["answer"] });
  }
  const {
    match,
    exit,
    signal,
    status,
    answer: failure,
    refuse,
    ignores_term: ignoresTerm,
    unkillable: isUnkillable,
  } = raw;
  const rule = given({
    duration,
    failChance,
    exitCode: exit,
    signal,
    status,
    failure,
    refusal: refuse,
    refuseChance,
    ignoresTerm,
    isUnkillable,
    lostStartChance,
    armMs,
  });
  return fields.problems.length === 0 ? ok({ match, ...rule }) : err(fields.problems);
}

/** Without what is undefined. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** What each deed may say about itself beside when it happens. */
const ALLOWED: Readonly<Record<Deed, readonly (keyof RawAct)[]>> = {
  crash: ["for", "step"],
  down: ["for"],
  reboot: ["for"],
  "lose-launcher": [],
  jump: ["by"],
  freeze: ["for"],
  "store-failure": ["for", "errno", "durable"],
  pause: ["job", "for", "reason", "catch_up"],
  resume: ["job"],
  hint: ["job", "every", "next", "for", "reason"],
  unhint: ["job"],
  run: ["job"],
  cancel: ["job"],
  reload: ["config"],
};

/** How long a service manager takes to start a daemon again. */
const DEFAULT_RESTART_MS = 5_000;
const DEFAULT_REBOOT_MS = 60_000;

export function readAct(raw: RawAct): Result<PlannedAct, readonly Problem[]> {
  const fields = new Fields();
  const when = readMoment(raw, fields);
  const forMs = fields.read("for", raw.for, parseSpan);
  const byMs = fields.read("by", raw.by, parseShift);
  for (const field of ["for", "by", "step", "job", "reason", "every", "next", "errno", "durable", "config"] as const) {
    if (raw[field] === undefined || ALLOWED[raw.do].includes(field)) continue;
    const hint = ALLOWED[raw.do].length === 0 ? "it takes no more" : `known here: ${ALLOWED[raw.do].join(", ")}`;
    fields.problems.push({ code: "field-conflict", message: `${raw.do} has no field "${field}"`, path: [field], hint });
  }
  const act = raw.do === "hint" ? hintOf(raw, forMs, fields) : actOf(raw, raw.do, forMs, byMs, fields);
  return fields.problems.length === 0 && act !== null && when !== null ? ok({ when, act }) : err(fields.problems);
}

function readMoment({ at, after }: RawAct, fields: Fields): Moment | null {
  if (at !== undefined && after !== undefined) {
    const message = "write at or after, not both";
    fields.problems.push({ code: "field-conflict", message, path: ["after"] });
  }
  const instant = fields.read("at", at, parseInstant);
  if (instant !== undefined) return { kind: "instant", at: instant };
  const ms = fields.read("after", after, parseSpan);
  if (ms !== undefined) return { kind: "after", ms };
  if (at === undefined && after === undefined)
    fields.missing("at", "write at: and an instant, or after: and a duration");
  return null;
}

/** What is wrong with it whenever it happens; the rest is judged when it does. */
function hintOf(raw: RawAct, forMs: number | undefined, fields: Fields): Act<string> | null {
  const intervalMs = fields.read("every", raw.every, parseSpan);
  const nextRunAt = fields.read("next", raw.next, parseInstant);
  const { job, reason = "simulated" } = raw;
  if (job === undefined) fields.missing("job", "write job: and which ones");
  if (fields.problems.length > 0 || job === undefined) return null;
  const wish: HintWish = { intervalMs, nextRunAt, ttlMs: forMs, reason };
  const judged = readHint(wish, nextRunAt ?? 0);
  if (judged.ok) return { do: "hint", job, wish };
  fields.problems.push(...judged.error.map((problem) => problemAt({ ...problem, path: [] }, fieldOf(problem))));
  return null;
}

const FIELD_OF: Readonly<Record<keyof HintWish, keyof RawAct>> = {
  intervalMs: "every",
  nextRunAt: "next",
  ttlMs: "for",
  reason: "reason",
};

function fieldOf({ path }: Problem): string {
  return FIELD_OF[String(path[0]) as keyof HintWish];
}

function actOf(
  raw: RawAct,
  deed: Exclude<Deed, "hint">,
  forMs: number | undefined,
  byMs: number | undefined,
  fields: Fields,
): Act<string> | null {
  const needed = (field: "for" | "by" | "job" | "config", what: string): null => {
    if (raw[field] === undefined) fields.missing(field, what);
    return null;
  };
  switch (deed) {
    case "crash":
      return { do: deed, forMs: forMs ?? DEFAULT_RESTART_MS, step: raw.step ?? null };
    case "reboot":
      return { do: deed, forMs: forMs ?? DEFAULT_REBOOT_MS };
    case "store-failure": {
      const { errno = "EIO", durable: isDurable = false } = raw;
      return { do: deed, errno, isDurable, forMs: forMs ?? DEFAULT_RESTART_MS };
    }
    case "down":
    case "freeze":
      return forMs === undefined ? needed("for", "write for: and how long it takes") : { do: deed, forMs };
    case "jump":
      return byMs === undefined ? needed("by", "write by: +1h or by: -30s") : { do: deed, byMs };
    case "lose-launcher":
      return { do: deed };
    case "pause": {
      const { job, reason = "simulated" } = raw;
      const catchUp = raw.catch_up === undefined ? {} : { catchesUp: raw.catch_up };
      if (job !== undefined && forMs !== undefined) return { do: deed, job, forMs, reason, ...catchUp };
      needed("job", "write job: and which ones");
      return needed("for", "write for: and how long it lasts");
    }
    case "resume":
    case "unhint":
    case "run":
    case "cancel":
      return raw.job === undefined ? needed("job", "write job: and which ones") : { do: deed, job: raw.job };
    case "reload":
      return raw.config === undefined
        ? needed("config", "write config: and a job file or directory")
        : { do: deed, config: raw.config };
  }
}
