/** The flags of `kron simulate` that say what happens: the same things as a scenario file, in short. */

import type { Problem } from "../core/base/problem.js";
import type { Result } from "../core/base/result.js";
import { problemsOfIssues } from "../core/job/issues.js";
import type { RunRule } from "../simulation/run-rules.js";
import type { PlannedAct } from "../simulation/scenario.js";
import { ACT_SHAPE, type RawAct, type RawRun, RUN_SHAPE } from "../simulation/scenario-shape.js";
import { readAct, readRun } from "../simulation/scenario-values.js";
import type { ParsedArgs } from "./args.js";
import { type CliError, usageError } from "./exit.js";

/** `GLOB=VALUE`, or `VALUE` for all. */
const RUN_FLAGS = {
  duration: "duration",
  fail: "fail",
  exit: "exit",
  signal: "signal",
  refuse: "refuse",
  spawn: "spawn",
} as const satisfies Record<string, keyof RawRun>;

const SWITCH_FLAGS = {
  "ignore-term": "ignores_term",
  unkillable: "unkillable",
} as const satisfies Record<string, keyof RawRun>;

export function flaggedRules(args: ParsedArgs): RunRule[] {
  const byGlob = new Map<string, Record<string, unknown>>();
  const rawFor = (match: string): Record<string, unknown> => {
    const raw = byGlob.get(match) ?? { match };
    byGlob.set(match, raw);
    return raw;
  };
  for (const [flag, field] of Object.entries(RUN_FLAGS)) {
    for (const text of args.all(flag)) {
      const cut = text.lastIndexOf("=");
      const raw = rawFor(cut < 0 ? "*" : text.slice(0, cut));
      Object.assign(raw, runFields(field, text.slice(cut + 1)));
    }
  }
  for (const [flag, field] of Object.entries(SWITCH_FLAGS)) {
    for (const glob of args.all(flag)) rawFor(glob)[field] = true;
  }
  return [...byGlob.values()].map((raw) => {
    const shaped = RUN_SHAPE.safeParse(raw);
    if (!shaped.success) throw flagError(problemsOfIssues(shaped.error.issues, raw, RUN_SHAPE)[0]);
    const rule = readRun(shaped.data);
    if (!rule.ok) throw flagError(rule.error[0]);
    return rule.value;
  });
}

/** `command-not-found:10%` is a reason and its share. */
function runFields(field: keyof RawRun, value: string): Record<string, unknown> {
  if (field === "exit") return { exit: /^\d{1,3}$/.test(value) ? Number(value) : value };
  const [reason = "", share] = field === "refuse" ? value.split(":") : [value];
  return share === undefined ? { [field]: reason } : { [field]: reason, refuse_chance: share };
}

/** What follows the moment, in order; `?` may be left out. */
const ACT_FLAGS: Readonly<Record<string, { readonly do: RawAct["do"]; readonly rest: readonly string[] }>> = {
  crash: { do: "crash", rest: ["for?", "step?"] },
  down: { do: "down", rest: ["for"] },
  reboot: { do: "reboot", rest: ["for?"] },
  "launcher-death": { do: "lose-launcher", rest: [] },
  jump: { do: "jump", rest: ["by"] },
  freeze: { do: "freeze", rest: ["for"] },
  "store-failure": { do: "store-failure", rest: ["errno?"] },
  pause: { do: "pause", rest: ["job", "for", "reason?"] },
  resume: { do: "resume", rest: ["job"] },
  hint: { do: "hint", rest: ["job", "every", "for"] },
  "hint-once": { do: "hint", rest: ["job", "next"] },
  unhint: { do: "unhint", rest: ["job"] },
  run: { do: "run", rest: ["job"] },
  cancel: { do: "cancel", rest: ["job"] },
  reload: { do: "reload", rest: ["config"] },
};

export function flaggedActs(args: ParsedArgs): PlannedAct[] {
  return Object.entries(ACT_FLAGS).flatMap(([flag, { do: deed, rest }]) =>
    args.all(flag).map((text) => actOf(flag, deed, rest, text)),
  );
}

function actOf(flag: string, deed: RawAct["do"], rest: readonly string[], text: string): PlannedAct {
  const [moment = "", ...values] = text.split(",");
  const form = ["T", ...rest.map((name) => name.replace(/^(.*)\?$/, "[$1]").toUpperCase())].join(",");
  const least = rest.filter((name) => !name.endsWith("?")).length;
  if (values.length < least || values.length > rest.length) throw usageError(`--${flag}: write ${form}`);
  const named = values.map((value, index) => [(rest[index] ?? "").replace("?", ""), value] as const);
  const when = moment.startsWith("+") ? { after: moment.slice(1) } : { at: moment };
  const raw = { ...when, do: deed, ...Object.fromEntries(named) };
  const shaped = ACT_SHAPE.safeParse(raw);
  if (!shaped.success) throw flagError(problemsOfIssues(shaped.error.issues, raw, ACT_SHAPE)[0], flag);
  const act = readAct(shaped.data);
  if (!act.ok) throw flagError(act.error[0], flag);
  return act.value;
}

function flagError(problem: Problem | undefined, flag = ""): CliError {
  const field = flag === "" ? String(problem?.path.at(-1) ?? "") : flag;
  return usageError(`--${field}: ${problem?.message ?? "cannot be read"}`, problem?.hint);
}

export function unwrap<T>(flag: string, value: Result<T, Problem>): T {
  if (!value.ok) throw flagError(value.error, flag);
  return value.value;
}
