import { describe, expect, test } from "vitest";
import { DefinitionSet } from "../../../src/actors/pool/load/definition-set.js";
import { GivenAway } from "../../../src/actors/pool/load/given-away.js";
import { type JobKeeper, Merge, type Merged } from "../../../src/actors/pool/load/merge.js";
import { type Piece, type PieceTask, packed } from "../../../src/actors/pool/load/piece.js";
import type { LocatedJob } from "../../../src/core/config/located.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { requireOk } from "../../support/results.js";

type Jobs = readonly LocatedJob[];
const BYTES = new TextEncoder().encode("one\ntwo\nthree\nfour\nfive\n");

function job(identity: string, file: string, line: number): LocatedJob {
  const definition = requireOk(readJobDefinition({ identity, schedule: "@daily", command: ["x"] }));
  return { definition, file, line, column: 5 };
}

/** Each file is one piece. */
function merged<T>(
  keeper: JobKeeper<T>,
  made: (piece: Piece<Jobs>) => Piece<T>,
  files: readonly Jobs[],
  limit?: number,
): Merged {
  const merge = new Merge(keeper, limit);
  for (const jobs of files) {
    const file = jobs[0]?.file ?? "empty";
    const task: PieceTask = { file, form: { kind: "jsonl", isFirst: true }, bytes: BYTES };
    merge.take(made({ jobs, findings: [], settings: [], crontab: null, lines: 5 }), task);
  }
  return merge.result();
}

interface Kept extends Merged {
  readonly names: readonly string[];
}

/** Both ways of keeping jobs. */
const KEEPERS: readonly { readonly name: string; readonly keep: (files: readonly Jobs[], limit?: number) => Kept }[] = [
  {
    name: "as texts",
    keep(files, limit) {
      const index = new DefinitionSet();
      const result = merged(index, packed, files, limit);
      return { ...result, names: Array.from({ length: index.size }, (_, at) => index.identityAt(at)) };
    },
  },
  {
    name: "handed on",
    keep(files, limit) {
      const names: string[] = [];
      const keeper = new GivenAway(({ definition }) => void names.push(definition.identity));
      const result = merged(keeper, (piece) => piece, files, limit);
      expect(keeper.size).toBe(names.length);
      return { ...result, names };
    },
  },
];

describe.each(KEEPERS)("jobs of all files: $name", ({ keep }) => {
  test("S37: an identity belongs to the job that had it first, across files", () => {
    const { names, findings } = keep([[job("a", "1.jsonl", 3), job("A", "1.jsonl", 4)], [job("a", "2.jsonl", 2)]]);
    expect(findings).toEqual([
      {
        located: {
          problem: {
            code: "identity-duplicate",
            message: 'the identity "a" is already used at 1.jsonl:3:5',
            path: ["identity"],
          },
          file: "2.jsonl",
          line: 2,
          column: 5,
          length: 1,
          identity: "a",
        },
        sourceLine: "two",
      },
    ]);
    expect(names).toEqual(["a", "A"]);
  });

  test("S37: names that objects know too are identities like any other", () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty", 'a"\\b'];
    expect(keep([names.map((name, at) => job(name, "f", at + 1))])).toMatchObject({ names, findings: [] });
  });

  test("beyond the limit one problem says so, and nothing more is taken; repeats are told still", () => {
    const jobs = ["a", "b", "c", "a", "d"].map((name, at) => job(name, "f", at + 1));
    const { names, findings } = keep([jobs], 2);
    const told = findings.map(({ located: { problem, line } }) => `${line} ${problem.code}`);
    expect([told, names]).toEqual([
      ["3 limit-exceeded", "4 identity-duplicate"],
      ["a", "b"],
    ]);
  });
});
