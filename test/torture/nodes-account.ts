/** What is to hold of every claim of several nodes: the ledger and what the runs themselves have said agree. */
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { type EpochMs, formatInstant, MINUTE_MS } from "../../src/core/time/instant.js";
import type { WhyKind } from "../../src/core/why/facts.js";
import { readWhy } from "../../src/operations/records/why.js";
import { storePlace } from "../../src/persist/backends.js";
import type { PostgresServer } from "../support/postgres.js";
import { requireOk } from "../support/results.js";

export interface NodesAccount {
  readonly claims: number;
  /** Asked after one by one. */
  readonly periods: number;
  readonly duplicates: readonly string[];
  readonly unaccounted: readonly string[];
  /** By how they ended. */
  readonly endings: ReadonlyMap<string, number>;
}

interface RunRecord {
  readonly attempt_id: string;
  readonly ended_at: string | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly reason: string | null;
}

/** Window, deadline and a little: by then something has become of a period. */
const SETTLED_MS = 95_000;
const UNANSWERED: ReadonlySet<WhyKind> = new Set(["unknown", "waiting", "running"]);

export interface Campaigned {
  /** A line for each run that began: identity, period, attempt. */
  readonly witness: readonly string[];
  /** Jobs with a period a minute. */
  readonly minutely: readonly string[];
  readonly wanted: { readonly fromAt: EpochMs; readonly untilAt: EpochMs };
  readonly address: string;
}

export async function accountOfNodes(
  server: PostgresServer,
  database: string,
  campaign: Campaigned,
): Promise<NodesAccount> {
  const rows = await server.admin("select identity, text from kron.ledger where kind ~ '^run'", database);
  const account = accountOf(
    rows.map(({ identity, text }) => ({ identity: String(identity), text: String(text) })),
    campaign.witness,
  );
  const { open, periods } = await unexplained(campaign);
  return { ...account, periods, unaccounted: [...account.unaccounted, ...open] };
}

/** Records of runs, as the ledger has them, and what the runs have said of themselves. */
export function accountOf(
  rows: readonly { readonly identity: string; readonly text: string }[],
  witness: readonly string[],
): NodesAccount {
  const runs = new Map<string, RunRecord>();
  const endings = new Map<string, number>();
  const unaccounted: string[] = [];
  for (const { identity, text } of rows) {
    const run = JSON.parse(text) as RunRecord;
    const name = `${identity} ${run.attempt_id}`;
    const ending = run.ended_at === null ? "open" : (run.reason ?? run.signal ?? `exit ${run.exit_code}`);
    endings.set(ending, (endings.get(ending) ?? 0) + 1);
    if (ending === "open") unaccounted.push(`${name} has no end on record`);
    runs.set(name, run);
  }
  const seen = new Map<string, number>();
  for (const line of witness) {
    const [identity = "", periodId = "", attemptId = ""] = line.split(" ");
    const occasion = `${identity} ${periodId}`;
    seen.set(occasion, (seen.get(occasion) ?? 0) + 1);
    const run = runs.get(`${identity} ${attemptId}`);
    if (run === undefined) unaccounted.push(`${line} has run, and is not on record`);
    else if (run.reason === "aborted_late") unaccounted.push(`${line} has run, and is on record as too late`);
    runs.delete(`${identity} ${attemptId}`);
  }
  for (const [name, run] of runs) {
    // Others were ended before they could say anything, or nobody can tell of them.
    if (run.exit_code === 0) unaccounted.push(`${name} is on record as a success, and has left no witness`);
  }
  const duplicates = [...seen].filter(([, count]) => count > 1).map(([name]) => name);
  return { claims: rows.length, periods: 0, duplicates, unaccounted, endings };
}

/** S36: periods without an outcome or a reason for none. What was due at the very end may have been in nobody's hands. */
async function unexplained({
  address,
  minutely,
  wanted: { fromAt, untilAt },
}: Campaigned): Promise<{ readonly open: readonly string[]; readonly periods: number }> {
  const { at, backend } = requireOk(storePlace(address, "/nowhere"));
  const reader = requireOk(await backend.openReader(at));
  const open: string[] = [];
  let periods = 0;
  try {
    const firstAt = Math.ceil(fromAt / MINUTE_MS) * MINUTE_MS;
    for (const identity of minutely) {
      for (let periodAt = firstAt; periodAt + SETTLED_MS < untilAt; periodAt += MINUTE_MS) {
        periods += 1;
        const question = { identity, periodAt, now: untilAt, ledger: SETTINGS_DEFAULTS.ledger, isAlive: true };
        const answer = await readWhy(reader, question);
        if (answer === null || UNANSWERED.has(answer.kind))
          open.push(`${identity} ${formatInstant(periodAt)}: ${answer?.text}`);
      }
    }
  } finally {
    await reader.close();
  }
  return { open, periods };
}
