/** The end of runs that were begun by hand, as an exit code for whoever waits for it. */
import { constants } from "node:os";
import { type Ending, isSuccess, readEnding } from "../core/state/ending.js";
import { parseInstant } from "../core/time/instant.js";
import type { ControlClient } from "../krond/control/client.js";
import { ControlError } from "../krond/control/client.js";
import type { HistoryRow } from "../krond/state/history.js";
import { CliError } from "./exit.js";
import { nextLook } from "./follow.js";
import { outcomeText } from "./outcome-text.js";

/** How a run ended that nobody saw: success is never assumed (S29). */
export const UNKNOWN_END = 70;
const FAILED = 1;
const SIGNAL_BASE = 128;
/** Records about one instant; there are a few. */
const ROWS_LOOKED_AT = 10;

export interface Begun {
  readonly identity: string;
  /** Of the manual run: its name in the history. */
  readonly slot: string;
}

export interface RunEnd extends Begun {
  readonly exitCode: number;
  readonly text: string;
  readonly row: HistoryRow;
}

/** In the order in which they were begun. */
export async function ends(client: ControlClient, begun: readonly Begun[]): Promise<readonly RunEnd[]> {
  const found: RunEnd[] = [];
  for (const each of begun) {
    const row = await endOf(client, each);
    const ending = readEnding({ ...row });
    found.push({ ...each, exitCode: exitCodeOf(ending), text: outcomeText("ended", ending), row });
  }
  return found;
}

async function endOf(client: ControlClient, { identity, slot }: Begun): Promise<HistoryRow> {
  const slotAt = parseInstant(slot);
  const beforeAt = slotAt.ok ? slotAt.value + 1 : null;
  for (;;) {
    const request = { op: "history" as const, identity, limit: ROWS_LOOKED_AT, beforeAt };
    const rows = (await client.ask(request).catch(lost)) as readonly HistoryRow[];
    const row = rows.find(({ period_id, source }) => period_id === slot && source === "manual");
    if (row !== undefined && row.ended_at !== null) return row;
    await nextLook();
  }
}

/** The run goes on without the daemon, and without us. */
function lost(error: unknown): never {
  if (!(error instanceof ControlError && error.kind === "no-answer")) throw error;
  const hint = "what was started goes on, and the next daemon finds it again: 'kron history JOB' will tell";
  throw new CliError(UNKNOWN_END, `${error.message} before the run had ended`, hint);
}

/** A shell's way of saying it: the code, 128 and the number of the signal; for a request 0 or 1. */
export function exitCodeOf(ending: Ending): number {
  if (isSuccess(ending)) return 0;
  switch (ending.kind) {
    case "exited":
      if (ending.code !== null) return ending.code;
      return ending.signal === null ? UNKNOWN_END : SIGNAL_BASE + signalNumber(ending.signal);
    case "answered":
    case "failed":
    case "job":
      return FAILED;
    default:
      return UNKNOWN_END;
  }
}

function signalNumber(name: string): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return numbers[name] ?? 0;
}
