/** How jobs are, as whoever looks after them says. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Acting } from "../ports.js";
import { recordedStatuses } from "./offline-status.js";

const NOBODY_TELLS: ReadonlySet<string> = new Set(["job-unattended", "node-silent"]);

/** Where a node has gone and nobody has taken its jobs up yet, as they are on record: what runs of them nobody knows then. */
export async function statusesOf(
  { among, now, reader, supervisor }: Pick<Acting, "among" | "now" | "reader" | "supervisor">,
  identities: readonly string[],
): Promise<readonly JobStatus[]> {
  try {
    return await supervisor.list({ identities });
  } catch (error) {
    if (among === null || !(error instanceof KronError) || !NOBODY_TELLS.has(error.code)) throw error;
    return recordedStatuses(reader, identities, now());
  }
}
