import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly peer: string | null;
  readonly peer_value: number | null;
  readonly spread: number | null;
}

interface Report {
  readonly date: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

interface DocumentModule {
  resultFiles(): readonly string[];
  readReports(files: readonly string[]): readonly Report[];
  renderDocument(reports: readonly Report[]): string;
  renderFiles(reports: readonly Report[]): ReadonlyMap<string, string>;
}

interface TablesModule {
  flatTable(rows: readonly Row[]): string;
}

const root = new URL("../../", import.meta.url);

function load<Module>(file: string): Promise<Module> {
  return import(new URL(`bench/lib/${file}`, root).href) as Promise<Module>;
}

const { readReports, renderDocument, renderFiles, resultFiles } = await load<DocumentModule>("document.mjs");
const { flatTable } = await load<TablesModule>("tables.mjs");

const MACHINE = {
  node: "v20",
  v8: "11",
  tz: "2025c",
  platform: "linux x64",
  cores: 2,
  cpu: "a",
  memory_gib: 4,
  load: 0,
};

function row(changes: Partial<Row>): Row {
  return { id: "P2", name: "decide", value: 1, unit: "ops/s", peer: "p", peer_value: 1, spread: null, ...changes };
}

function report(date: string, rows: readonly Row[], notes: readonly string[] = []): Report {
  return { date, machine: MACHINE, rows, notes };
}

describe("docs/benchmarks.md", () => {
  test.each(["benchmarks.md", "growth.svg"])(
    "%s is what the kept results give, through `npm run bench -- --document`",
    (name) => {
      const rendered = renderFiles(readReports(resultFiles())).get(name);
      expect(rendered).toBe(readFileSync(new URL(`docs/${name}`, root), "utf8"));
    },
  );

  test("does not depend on the order in which the results are read", () => {
    const reports = readReports(resultFiles());
    expect(renderFiles([...reports].reverse())).toEqual(renderFiles(reports));
  });

  test("takes all rows of one name from the newest run that has any, because only figures of one run compare", () => {
    const old = report("2026-01-01T00:00:00Z", [
      row({ value: 600_000, peer: "old peer", peer_value: 300_000 }),
      row({ name: "decide and record", value: 555_000, peer: "kept peer", peer_value: 111_000 }),
    ]);
    const recent = report("2026-02-01T00:00:00Z", [row({ value: 800_000, peer: "new peer", peer_value: 200_000 })]);
    const text = renderDocument([recent, old]);
    expect(text).toContain("| decide | 800.0k ops/s | new peer | 200.0k ops/s | 4.00 × |");
    expect(text).toContain("| decide and record | 555.0k ops/s | kept peer | 111.0k ops/s | 5.00 × |");
    expect(text).not.toContain("old peer");
    expect(text).toContain("Measured 2026-01-01");
    expect(text).toContain("Measured 2026-02-01");
  });

  test.each([
    ["held", 500_000, "| at least 500,000 decisions a second on one core | 500,000/s | held |"],
    ["missed, and says so", 499_999, "| at least 500,000 decisions a second on one core | 499,999/s | **missed**"],
  ])("checks each budget against what was measured: %s", (_, value, line) => {
    expect(renderDocument([report("2026-01-01T00:00:00Z", [row({ value })])])).toContain(line);
  });

  test("says what was not measured", () => {
    const text = renderDocument([]);
    expect(text.match(/^Not measured yet\.$/gm)?.length).toBeGreaterThan(5);
  });

  test("gives a note of a run to the sections that it names, once", () => {
    const notes = ["P2: taken while others worked.", "D1-D4: not for decisions."];
    const text = renderDocument([report("2026-01-01T00:00:00Z", [row({}), row({ peer: "q" })], notes)]);
    expect(text.match(/- Taken while others worked\./g)).toHaveLength(1);
    expect(text).not.toContain("not for decisions");
  });

  test("refuses rows for which the page has no place", () => {
    expect(() => renderDocument([report("2026-01-01T00:00:00Z", [row({ id: "P99" })])])).toThrow("P99");
  });
});

test.each([
  ["a rate: more is better", { unit: "ops/s", value: 10, peer_value: 4 }, "2.50 ×"],
  ["a duration: less is better", { unit: "ms", value: 4, peer_value: 10 }, "2.50 ×"],
  ["worse than the peer", { unit: "ms", value: 10, peer_value: 4 }, "0.400 ×"],
  ["a peer that could not be measured", { value: 10, peer_value: null }, "-"],
])("how much better Kron is: %s", (_, changes, expected) => {
  const cells = flatTable([row(changes)])
    .split("\n")
    .at(-1)
    ?.split(" | ");
  expect(cells?.at(-1)).toBe(`${expected} |`);
});
