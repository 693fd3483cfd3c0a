import { describe, expect, test } from "vitest";
import { DefinitionSet } from "../../../src/actors/pool/load/definition-set.js";
import { JobColumnsBuilder } from "../../../src/actors/pool/load/job-columns.js";
import { Slabs } from "../../../src/actors/pool/load/slabs.js";
import { canonicalDefinitionText } from "../../../src/core/job/schema.js";
import { job } from "../supervisor/world.js";

describe("what a large configuration keeps", () => {
  test("is a copy of each column, whatever its kind and length, in few pieces", () => {
    const slabs = new Slabs();
    const columns = [1, 0, 3, 8, 1_000_003].flatMap((length) => [
      Uint8Array.from({ length }, (_, index) => index * 7),
      Uint32Array.from({ length }, (_, index) => index * 0x9e_37_79_b9),
    ]);
    const kept = columns.map((column) => slabs.kept<Uint8Array | Uint32Array>(column));
    const before = columns.map((column) => column.slice());
    for (const column of columns) column.fill(0);
    expect(kept.every((column, index) => Buffer.compare(bytes(column), bytes(before[index])) === 0)).toBe(true);
    expect(kept.map((column) => column instanceof Uint8Array)).toEqual(columns.map((_, index) => index % 2 === 0));
    expect(new Set(kept.map(({ buffer }) => buffer)).size).toBe(1);
    // One that has no room beside the others.
    const large = slabs.kept(new Uint8Array(80 * 1024 * 1024).fill(5));
    expect([large.length, large.at(-1), large.buffer === kept[0]?.buffer]).toEqual([80 * 1024 * 1024, 5, false]);
  });

  test("says the same of every job as the pieces in which it came", () => {
    const set = new DefinitionSet();
    const jobs = Array.from({ length: 9_000 }, (_, index) =>
      job(`job-${index}`, "0 * * * *", { command: ["/bin/echo", "long".repeat(1_000)] }),
    );
    const pieces = [jobs.slice(0, 8_990), jobs.slice(8_990)].map((some) => {
      const columns = new JobColumnsBuilder();
      for (const [index, definition] of some.entries())
        columns.add({ definition, file: "jobs", line: index + 1, column: 2 });
      return columns.columns();
    });
    for (const piece of pieces) {
      const count = set.begin({ file: "jobs", jobs: piece, linesBefore: 0 });
      for (let position = 0; position < count; position++) expect(set.add(position)).toBeNull();
    }
    const [large] = pieces;
    expect(large?.texts.length).toBeGreaterThan(32 * 1024 * 1024);
    // What came is gone.
    large?.texts.fill(0);
    large?.lines.fill(0);
    for (const index of [0, 4_321, 8_989, 8_990, 8_999]) {
      const definition = jobs[index];
      if (definition === undefined) throw new Error(`no job ${index}`);
      expect(set.textAt(index)).toBe(canonicalDefinitionText(definition));
      expect(set.placeAt(index)).toMatchObject({ line: (index < 8_990 ? index : index - 8_990) + 1, column: 2 });
    }
    const rest = set.without(new Set(["job-0"]));
    expect([rest.size, rest.textAt(rest.indexOf("job-4321"))]).toEqual([8_999, set.textAt(4_321)]);
    expect(set.byteLength).toBeLessThan(1.2 * pieces.reduce((sum, { texts }) => sum + texts.length, 1_000_000));
  });
});

function bytes(column: Uint8Array | Uint32Array | undefined): Uint8Array {
  return column === undefined ? new Uint8Array() : new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}
