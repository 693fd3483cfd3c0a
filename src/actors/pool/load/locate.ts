/**
 * Problems of jobs that were found elsewhere, at the places of the fields that they are about (their paths): the files are
 * read once more, and nothing is kept of them, nor shown: a line may hold more than the field in question.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { LIMITS } from "../../../core/base/limits.js";
import type { Problem } from "../../../core/base/problem.js";
import type { Against, LocatedJob } from "../../../core/config/located.js";
import type { ConfigCheck, ConfigFinding, ConfigSource } from "../../../persist/config-files.js";
import { INLINE_PIECE_BYTES } from "./configuration.js";
import { GivenAway } from "./given-away.js";
import { loadFiles, type PieceReader } from "./loading.js";
import { isOfLines, readPiece } from "./piece.js";

/** What is not found there any more, or in a larger file that is read as a whole, keeps its place. */
export async function locateProblems(
  sources: readonly ConfigSource[],
  findings: readonly ConfigFinding[],
  check: ConfigCheck | null = null,
  wholeFileBytes: number = LIMITS.yamlFileBytes,
): Promise<readonly ConfigFinding[]> {
  if (findings.length === 0) return findings;
  const reader = searching(problemsByJob(findings), wholeFileBytes);
  const reading = await loadFiles(sources, { reader, keeper: new GivenAway(() => undefined), check });
  const placed = new Map(reading.findings.map((finding) => [finding.located.problem, finding]));
  return findings.map((finding) => ({
    ...finding,
    located: placed.get(finding.located.problem)?.located ?? finding.located,
  }));
}

function problemsByJob(findings: readonly ConfigFinding[]): Against {
  const known = new Map<string, Problem[]>();
  for (const { located } of findings) {
    const { identity, problem } = located;
    if (identity === null || problem.path.length === 0) continue;
    known.set(identity, [...(known.get(identity) ?? []), problem]);
  }
  return (identity) => known.get(identity) ?? [];
}

function searching(against: Against, wholeFileBytes: number): PieceReader<readonly LocatedJob[]> {
  return {
    width: 1,
    pieceBytes: INLINE_PIECE_BYTES,
    async read(task) {
      await nextTurn();
      const isTooLarge = !isOfLines(task.form) && task.bytes.length > wholeFileBytes;
      return readPiece(isTooLarge ? { ...task, bytes: NOTHING } : task, () => undefined, { against });
    },
  };
}

const NOTHING = new Uint8Array();
