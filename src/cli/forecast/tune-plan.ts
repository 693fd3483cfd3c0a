/** From files and wishes to a plan that can be written: what cannot is left alone, and the rest planned anew. */

import { isOnce } from "../../core/cron/at.js";
import { isEvery } from "../../core/cron/every.js";
import { isReboot } from "../../core/cron/reboot.js";
import { compileRule } from "../../core/decision/compile.js";
import type { Horizon } from "../../core/forecast/horizon.js";
import type { TextEdit } from "../../core/forecast/tune/edit/edits.js";
import { isLimitedByDeadline } from "../../core/forecast/tune/limits.js";
import {
  type TuneChange,
  type TuneOptions,
  type TunePlan,
  type TuneSubject,
  tune,
} from "../../core/forecast/tune/tune.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { matchesGlob } from "../../core/job/identity-glob.js";
import { misreadJobs, type TuneFile } from "./tune-files.js";

export interface TuneWishes extends TuneOptions {
  /** Of an identity or a tag, with `*` and `?`; null: every job. */
  readonly only: string | null;
  /** Jobs with this tag are left alone. */
  readonly fixedTag: string;
  readonly mayWiden: boolean;
  readonly mayReseed: boolean;
}

/** Why a job is left alone; `deadline`: it may be given a window, but not a longer one than its deadline. */
const REASONS = [
  "suspended",
  "interval",
  "reboot",
  "once",
  "fixed",
  "not_selected",
  "has_window",
  "not_editable",
  "deadline",
] as const;
export type Reason = (typeof REASONS)[number];

interface FileChange {
  readonly file: TuneFile;
  readonly edits: readonly TextEdit[];
  readonly changes: readonly (TuneChange & { readonly line: number })[];
}

export interface WrittenPlan {
  readonly plan: TunePlan;
  readonly files: readonly FileChange[];
  readonly leftAlone: Readonly<Record<Reason, number>>;
}

/** More rounds than anybody's file should need. */
const ATTEMPTS = 10;

export function planTuning(files: readonly TuneFile[], horizon: Horizon, wishes: TuneWishes): WrittenPlan {
  const unwritable = new Set<string>();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { subjects, leftAlone } = subjectsOf(files, wishes, unwritable);
    const plan = tune(subjects, horizon, wishes);
    const written = files.map((file) => fileChange(file, plan.changes));
    const misread = written.flatMap(unwritableIn);
    if (misread.length === 0) return { plan, files: written.filter(({ edits }) => edits.length > 0), leftAlone };
    for (const identity of misread) unwritable.add(identity);
  }
  throw new Error("invariant broken: a tuned configuration cannot be read back as planned");
}

function subjectsOf(files: readonly TuneFile[], wishes: TuneWishes, unwritable: ReadonlySet<string>) {
  const leftAlone = Object.fromEntries(REASONS.map((reason) => [reason, 0])) as Record<Reason, number>;
  const subjects = files.flatMap((file) =>
    file.jobs.map(({ definition }): TuneSubject => {
      const { mayChangeWindow, mayChangeSalt, reason } = freedomOf(definition, file, wishes, unwritable);
      if (reason !== null) leftAlone[reason]++;
      else if (mayChangeWindow && isLimitedByDeadline(definition, compileRule(definition), wishes.maxWindowMs)) {
        leftAlone.deadline++;
      }
      return { definition, mayChangeWindow, mayChangeSalt };
    }),
  );
  return { subjects, leftAlone };
}

interface Freedom {
  readonly mayChangeWindow: boolean;
  readonly mayChangeSalt: boolean;
  readonly reason: Reason | null;
}

function freedomOf(
  definition: JobDefinition,
  file: TuneFile,
  wishes: TuneWishes,
  unwritable: ReadonlySet<string>,
): Freedom {
  const bound = (reason: Reason): Freedom => ({ mayChangeWindow: false, mayChangeSalt: false, reason });
  if (definition.policy.suspend) return bound("suspended");
  if (isEvery(definition.schedule)) return bound("interval");
  if (isReboot(definition.schedule)) return bound("reboot");
  // Whoever names one time means it.
  if (isOnce(definition.schedule)) return bound("once");
  if (definition.tags.includes(wishes.fixedTag)) return bound("fixed");
  if (!isSelected(definition, wishes.only)) return bound("not_selected");
  const site = file.sites.get(definition.identity);
  if (site === undefined || unwritable.has(definition.identity)) return bound("not_editable");
  const hasWindow = site.hasOwnWindow || definition.window.durationMs > 0;
  const wantsWindow = !hasWindow || (wishes.mayWiden && definition.window.durationMs > 0);
  const mayChangeWindow = wantsWindow && site.windowEdit({ mode: "after", durationMs: 1000 }) !== null;
  const mayChangeSalt = wishes.mayReseed && site.saltEdit("x") !== null;
  if (mayChangeWindow || mayChangeSalt) return { mayChangeWindow, mayChangeSalt, reason: null };
  return bound(wantsWindow ? "not_editable" : "has_window");
}

function isSelected({ identity, tags }: JobDefinition, only: string | null): boolean {
  if (only === null) return true;
  return [identity, ...tags].some((name) => matchesGlob(only, name));
}

function fileChange(file: TuneFile, changes: readonly TuneChange[]): FileChange {
  const mine = changes.flatMap((change) => {
    const site = file.sites.get(change.definition.identity);
    return site === undefined ? [] : [{ ...change, line: site.line }];
  });
  return { file, changes: mine, edits: mine.flatMap((change) => editsOf(change, file)) };
}

function editsOf({ definition, rule }: TuneChange, { sites }: TuneFile): TextEdit[] {
  const site = sites.get(definition.identity);
  const { window, seed } = rule;
  const windowEdit = window.durationMs === definition.window.durationMs ? null : site?.windowEdit(window);
  const saltEdit = seed.salt === definition.seed.salt ? null : site?.saltEdit(seed.salt);
  return [windowEdit, saltEdit].flatMap((edit) => edit ?? []);
}

/** The changed text is read again: what does not come out exactly as planned is not touched. */
function unwritableIn({ file, edits, changes }: FileChange): readonly string[] {
  if (edits.length === 0) return [];
  const planned = new Map(changes.map(({ definition, rule }) => [definition.identity, { ...definition, ...rule }]));
  return misreadJobs(file, edits, planned) ?? [...planned.keys()];
}
