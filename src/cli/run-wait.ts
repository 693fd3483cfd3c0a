/** The end of runs that were begun by hand, as an exit code for whoever waits for it. */
import { readEnding } from "../core/state/ending.js";
import { parseInstant } from "../core/time/instant.js";
import type { ControlClient } from "../krond/control/client.js";
import { ControlError } from "../krond/control/client.js";
import { exitCodeOf, UNKNOWN_END } from "../krond/state/exit-code.js";
import type { HistoryRow } from "../operations/records/history.js";
import { CliError } from "./exit.js";
import { nextLook } from "./follow.js";
import { outcomeText } from "./outcome-text.js";

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
