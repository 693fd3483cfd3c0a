/** docs/endpoints.md says what there is: fields and their defaults, and examples that can be sent as they stand. */
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { TENANT_LIMITS } from "../../src/actors/endpoints/tenant-limits.js";
import { RUN_RESULTS } from "../../src/core/endpoint/ended-run.js";
import { definitionOf, ENDPOINT_FIELDS, ENDPOINT_SPEC } from "../../src/core/endpoint/spec.js";
import { HINT_INTERVAL, HINT_ONESHOT, PAUSE_ENDPOINT } from "../../src/operations/endpoints/standing.js";

const PAGE = fs.readFileSync(new URL("../../docs/endpoints.md", import.meta.url), "utf8");
const IDENTITY = `endpoint:default/job_${"a".repeat(16)}/ep_${"b".repeat(16)}`;

function section(title: string): string {
  const [, text = ""] = PAGE.split(`\n## ${title}\n`);
  return text.split("\n## ")[0] ?? "";
}

function examplesIn(title: string): unknown[] {
  return [...section(title).matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => JSON.parse(text));
}

function rowsIn(title: string): string[][] {
  const lines = section(title)
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  return lines.map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
}

describe("docs/endpoints.md", () => {
  test("lists every field with its default", () => {
    const fields = Object.entries(ENDPOINT_FIELDS).map(([name, field]) => {
      const value = field instanceof z.ZodDefault ? JSON.stringify(field.parse(undefined)) : "";
      return [name, value];
    });
    expect(rowsIn("What an endpoint is").map(([, name, value]) => [name, value])).toEqual(fields);
  });

  test("its examples are endpoints, hints and a pause", () => {
    const endpoints = examplesIn("What an endpoint is").map((example) => ENDPOINT_SPEC.parse(example));
    const read = endpoints.map((spec) => definitionOf(spec, { identity: IDENTITY, isHeld: false }).ok);
    expect(read).toEqual([true, true]);
    const [interval, oneshot, pause] = examplesIn("Hints and pauses") as object[];
    const endpointId = `ep_${"b".repeat(16)}`;
    const inputs = [HINT_INTERVAL, HINT_ONESHOT, PAUSE_ENDPOINT].map(({ input }) => input as z.ZodType);
    const taken = [interval, oneshot, pause].map((wish, at) => inputs[at]?.safeParse({ endpointId, ...wish }).success);
    expect(taken).toEqual([true, true, true]);
  });

  test("names every limit, and every end of a run", () => {
    const named = rowsIn("Quotas").flatMap(([, names = ""]) => names.split(", "));
    expect(named.sort()).toEqual(Object.keys(TENANT_LIMITS.shape).sort());
    for (const status of RUN_RESULTS) expect(section("Runs and health")).toContain(`\`${status}\``);
  });
});
