/**
 * What is to hold of every period after whatever was done to the daemon: it has an outcome or a stated reason, the ledger
 * and the witness agree, and nothing began before its chosen second or later than S20 allows.
 */
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { type EpochMs, formatInstant, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import type { WhyAnswer, WhyKind } from "../../src/core/why/facts.js";
import { readWhy } from "../../src/operations/records/why.js";
import { openStateReader } from "../../src/persist/open.js";
import { requireOk } from "../support/results.js";
import { readWitness, type Witness } from "./witness.js";

export interface AccountedJob {
  readonly identity: string;
  readonly deadlineMs: number;
}

export interface Question {
  readonly state: string;
  readonly witness: string;
  readonly jobs: readonly AccountedJob[];
  /** S20; the default, unless the configuration says otherwise. */
  readonly startGraceMs?: number;
  readonly fromAt: EpochMs;
  readonly now: EpochMs;
  /** Whether the period could be started in time: a daemon was there, and stayed for long enough. */
  readonly hadTime?: (chosenAt: EpochMs, deadlineMs: number, endsAt: EpochMs) => boolean;
}

export interface Account {
  readonly periods: number;
  readonly runs: number;
  readonly duplicates: readonly string[];
  /** Neither an outcome nor a reason, or one that the witness contradicts. */
  readonly unaccounted: readonly string[];
  /** Begun before the chosen second, or beyond what S20 allows. */
  readonly untimely: readonly string[];
  /** No run, although there was time. */
  readonly lost: readonly string[];
  readonly kinds: ReadonlyMap<string, number>;
  /** S23: claims whose start nobody could confirm, and how many of them the witness has seen. */
  readonly unconfirmed: { readonly count: number; readonly hadRun: number };
}

const NO_ANSWER: ReadonlySet<WhyKind> = new Set(["unknown", "waiting", "running"]);
const SETTLED: ReadonlySet<WhyKind> = new Set(["executed", "skipped", "running"]);
/** What was due right before the question may still be on its way. */
const JUST_DUE_MS = 2_000;
/** Uptime is told in hundredths of a second. */
const CLOCK_SLACK_MS = 20;

export async function accountFor(question: Question): Promise<Account> {
  const seen = readWitness(question.witness);
  const rows = await answersTo(question);
  const kinds = new Map<string, number>();
  for (const { answer } of rows) {
    const name = answer.reason === null || answer.kind === "down" ? answer.kind : `${answer.kind} (${answer.reason})`;
    kinds.set(name, (kinds.get(name) ?? 0) + 1);
  }
  const unconfirmed = rows.filter(({ answer }) => answer.reason === "start_unconfirmed");
  return {
    periods: rows.length,
    runs: seen.startedAt.size,
    duplicates: seen.duplicates,
    unaccounted: rows.flatMap((row) => unaccountedOf(row, seen, question.now)),
    untimely: rows.flatMap((row) => untimelyOf(row, seen, question.startGraceMs ?? SETTINGS_DEFAULTS.startGraceMs)),
    lost: rows.flatMap((row) => lostOf(row, question)),
    kinds,
    unconfirmed: {
      count: unconfirmed.length,
      hadRun: unconfirmed.filter((row) => seen.startedAt.has(row.name)).length,
    },
  };
}

export function kindsText(kinds: ReadonlyMap<string, number>): string {
  const sorted = [...kinds].sort(([, one], [, other]) => other - one);
  return sorted.map(([kind, count]) => `${count} ${kind}`).join(", ");
}

interface Row {
  readonly name: string;
  readonly job: AccountedJob;
  readonly periodAt: EpochMs;
  readonly answer: WhyAnswer;
}

async function answersTo({ state, jobs, fromAt, now }: Question): Promise<Row[]> {
  const reader = requireOk(await openStateReader(state));
  const rows: Row[] = [];
  try {
    for (const job of jobs) {
      for (let periodAt = fromAt; periodAt < now; periodAt += MINUTE_MS) {
        const { identity } = job;
        const request = { identity, periodAt, now, ledger: SETTINGS_DEFAULTS.ledger, isAlive: false };
        const answer = await readWhy(reader, request);
        if (answer === null) throw new Error(`nothing is known of ${identity}`);
        rows.push({ name: `${identity}.${answer.period_id}`, job, periodAt, answer });
      }
    }
  } finally {
    await reader.close();
  }
  return rows;
}

function unaccountedOf({ name, answer }: Row, { startedAt }: Witness, now: EpochMs): string[] {
  const { kind, text, run, chosen_time } = answer;
  const hasRun = startedAt.has(name);
  const isJustDue = kind === "waiting" && Date.parse(chosen_time ?? "") > now - JUST_DUE_MS;
  if (isJustDue) return hasRun ? [`${name} has run, but: ${text}`] : [];
  if (NO_ANSWER.has(kind)) return [`${name}: ${text}`];
  if (hasRun && (kind !== "executed" || answer.reason === "aborted_late")) return [`${name} has run, but: ${text}`];
  const isSureToHaveRun = kind === "executed" && run?.exit_code === 0;
  return isSureToHaveRun && !hasRun ? [`${name} has left no witness: ${text}`] : [];
}

function untimelyOf({ name, job, answer }: Row, { startedAt }: Witness, startGraceMs: number): string[] {
  const at = startedAt.get(name) ?? null;
  const chosenAt = Date.parse(answer.chosen_time ?? "");
  if (at === null || Number.isNaN(chosenAt)) return [];
  const latestAt = chosenAt + job.deadlineMs + startGraceMs + SECOND_MS;
  const isTimely = at >= chosenAt - CLOCK_SLACK_MS && at <= latestAt + CLOCK_SLACK_MS;
  return isTimely ? [] : [`${name}: chosen ${formatInstant(chosenAt)}, begun ${new Date(at).toISOString()}`];
}

function lostOf({ name, job, periodAt, answer }: Row, { hadTime }: Question): string[] {
  const chosenAt = Date.parse(answer.chosen_time ?? "");
  if (hadTime === undefined || SETTLED.has(answer.kind) || answer.kind === "before_definition") return [];
  return hadTime(chosenAt, job.deadlineMs, periodAt + MINUTE_MS) ? [`${name}: ${answer.text}`] : [];
}
