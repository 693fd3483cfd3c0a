/** S44: how jobs that run at boot are written, and what is wrong with them. */
import { describe, expect, test } from "vitest";
import { readKronLine } from "../../../src/core/config/line/kron-line.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import { hasPeriods } from "../../../src/core/decision/model.js";
import { definitionFromCanonical } from "../../../src/core/job/canonical.js";
import { minimalRaw } from "../../../src/core/job/minimal.js";
import {
  canonicalDefinitionText,
  readDefinitionInForce,
  readJobDefaults,
  readJobDefinition,
} from "../../../src/core/job/schema.js";
import { requireOk } from "../../support/results.js";

const BASE = { identity: "a", schedule: "@reboot", command: ["true"] };

function problemsOf(more: object): readonly string[] {
  const read = readJobDefinition({ ...BASE, ...more });
  return read.ok ? [] : read.error.map(({ code, path, message }) => `${code} ${path.join(".")}: ${message}`);
}

describe("what a job says", () => {
  test.each(["@reboot", " @Reboot "])("%j", (schedule) => {
    const definition = requireOk(readJobDefinition({ ...BASE, schedule }));
    const compiled = compileRule(definition);
    expect([definition.schedule, compiled.isReboot, hasPeriods(compiled)]).toEqual(["@reboot", true, false]);
    expect(compiled.schedule.next(0)).toBeNull();
  });

  test("as a line", () => {
    const { job, problems } = readKronLine("@reboot name=a command=true", { file: "f", line: 1 });
    expect(problems).toEqual([]);
    expect(job?.definition).toEqual(requireOk(readJobDefinition(BASE)));
  });

  test("it is stored, read back and shortened without a change", () => {
    const definition = requireOk(readJobDefinition({ ...BASE, policy: { deadline: "5m" }, retry: { limit: 2 } }));
    const text = canonicalDefinitionText(definition);
    expect(readDefinitionInForce(text)).toEqual({ definition, problems: [] });
    expect(definitionFromCanonical(text)).toEqual(definition);
    expect(requireOk(readJobDefinition(minimalRaw(definition)))).toEqual(definition);
  });

  test("defaults that speak of windows or of a pace do not concern it", () => {
    const defaults = requireOk(
      readJobDefaults({ window: { duration: "1h" }, min_interval: "1m", seed: { salt: "x" } }),
    );
    expect(requireOk(readJobDefinition(BASE, defaults))).toEqual(requireOk(readJobDefinition(BASE)));
  });
});

describe("what is wrong is said where it is", () => {
  test.each([
    [{ window: { duration: "1h" } }, "field-conflict window.duration: a job that runs at boot has no window"],
    [
      { distribution: "skewEarly" },
      "field-conflict distribution: a job that runs at boot has no windows to choose a second in",
    ],
    [{ seed: { salt: "x" } }, "field-conflict seed: a job that runs at boot has no windows to choose a second in"],
    [{ dst: { gap: "next" } }, "field-conflict dst: a job that runs at boot does not follow the wall clock"],
    [
      { constraints: { only: "hours=9" } },
      "field-conflict constraints: constraints choose among the seconds of a window, and a job that runs at boot has none",
    ],
    [
      { min_interval: "1m" },
      "field-conflict min_interval: a job that runs at boot has no pace: it runs once for each boot",
    ],
    [
      { max_interval: "1m" },
      "field-conflict max_interval: a job that runs at boot has no pace: it runs once for each boot",
    ],
  ])("%j", (more, problem) => {
    expect(problemsOf(more)).toEqual([problem]);
  });
});
