/** A configuration on this thread, its jobs as objects: for commands, which need no more than that. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { LocatedJob } from "../../../core/config/located.js";
import type { ConfigCheck, ConfigSource } from "../../../persist/config-files.js";
import { GivenAway } from "./given-away.js";
import { type FilesReading, loadFiles, type PieceReader } from "./loading.js";
import { readPiece } from "./piece.js";

export interface Configuration extends FilesReading {
  readonly jobs: readonly LocatedJob[];
}

/** A few milliseconds each. */
export const INLINE_PIECE_BYTES = 64 * 1024;

type Jobs = readonly LocatedJob[];

const HERE: PieceReader<Jobs> = {
  width: 1,
  pieceBytes: INLINE_PIECE_BYTES,
  async read(task) {
    await nextTurn();
    return readPiece(task, () => undefined);
  },
};

/** All jobs of all files, and everything that is wrong with any of them. */
export async function loadConfiguration(
  sources: readonly ConfigSource[],
  check: ConfigCheck | null = null,
): Promise<Configuration> {
  const jobs: LocatedJob[] = [];
  const reading = await loadEachJob(sources, (job) => void jobs.push(job), check);
  return { ...reading, jobs };
}

/** The jobs one after the other, so that a million of them never have to be held; `take` must not throw. */
export function loadEachJob(
  sources: readonly ConfigSource[],
  take: (job: LocatedJob) => void,
  check: ConfigCheck | null = null,
): Promise<FilesReading> {
  return loadFiles(sources, { reader: HERE, keeper: new GivenAway(take), check });
}
