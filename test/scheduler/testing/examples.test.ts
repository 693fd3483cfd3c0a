import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { examplesOf, matches, removeExamples, run } from "./support/examples.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const KIT = "src/scheduler/testing";
const FILES = [...readdirSync(join(ROOT, KIT)).filter((name) => name.endsWith(".ts")), "docs"]
  .map((name) => (name === "docs" ? "docs/testing-schedules.md" : `${KIT}/${name}`))
  .sort();
const EXAMPLES = FILES.flatMap((file) =>
  examplesOf(readFileSync(join(ROOT, file), "utf8")).map((example, i) => ({ name: `${file} ${i + 1}`, example })),
);

describe("examples of the test kit print what they say", () => {
  afterAll(removeExamples);

  test.each(EXAMPLES)("$name", async ({ name, example }) => {
    const printed = await run(name, example);
    const unexpected = printed.filter((line, i) => !matches(line, example.prints[i] ?? ""));
    expect({ unexpected, lines: printed.length }).toEqual({ unexpected: [], lines: example.prints.length });
  });

  test("every function of the kit that a user calls has one", () => {
    const documented = EXAMPLES.map(({ example }) => example.code).join("\n");
    const called = [
      "virtualTime",
      "controlledTask",
      "faultyStore",
      "crashable",
      "crash",
      "traceRecorder",
      "checkTrace",
    ];
    expect(called.filter((name) => !documented.includes(`${name}(`))).toEqual([]);
  });
});
