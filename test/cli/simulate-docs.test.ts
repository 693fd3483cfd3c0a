import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { METRICS } from "../../src/simulation/metrics.js";
import { runCaptured } from "../support/cli.js";

/** docs/simulate.md says what the program does: its files are written, its commands run, its output compared. */
const page = readFileSync("docs/simulate.md", "utf8");
const place = mkdtempSync(join(tmpdir(), "kron-simulate-docs-"));
for (const [, text = "", name = ""] of page.matchAll(/```yaml\n(# (\S+)\n[^`]*)```/g)) {
  writeFileSync(join(place, name), text);
}
const blocks = [...page.matchAll(/```console\n\$ kron ([^\n]*)\n([^`]*)```/g)].map(([, command = "", output = ""]) => {
  return [command, output] as const;
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

function argvOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

describe("docs/simulate.md", () => {
  test("has its blocks", () => {
    expect(blocks).toHaveLength(5);
  });

  test.each(blocks)("kron %s", async (command, output) => {
    const { out, err } = await runCaptured(KRON, argvOf(command), { cwd: place });
    expect({ out, err }).toEqual({ out: output, err: "" });
  });

  test("names every figure that a rule may speak of", () => {
    const named = [...page.matchAll(/^\| `([a-z_]+)` \| (.*) \|$/gm)].map(([, name, meaning]) => [name, meaning]);
    expect(named).toEqual(expect.arrayContaining(Object.entries(METRICS)));
  });
});

test("the example scenario holds", async () => {
  const argv = ["simulate", "examples/krond.yaml", "--scenario", "examples/scenarios/bad-day.yaml"];
  const { exitCode, out, err } = await runCaptured(KRON, argv);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  expect(out).toContain("nothing ran twice, every period is accounted for");
});
