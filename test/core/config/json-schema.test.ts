import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { jobJsonSchema } from "../../../src/core/config/json-schema.js";
import { SETTING_NAMES } from "../../../src/core/config/settings.js";
import { JOB_SHAPE } from "../../../src/core/job/shape.js";

type Schema = Record<string, unknown>;

describe("the JSON Schema for editors", () => {
  test("docs/krond.schema.json is current; `vitest -u` writes it anew", async () => {
    const text = `${JSON.stringify(jobJsonSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../../../docs/krond.schema.json");
  });

  test("is 2020-12 and knows every field of a file and of a job, each with a description", () => {
    const schema = jobJsonSchema() as { $schema: string; properties: Schema; $defs: { Job: { properties: Schema } } };
    expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(Object.keys(schema.properties).sort()).toEqual(["calendars", "defaults", "jobs", ...SETTING_NAMES].sort());
    expect(Object.keys(schema.$defs.Job.properties)).toEqual(Object.keys(JOB_SHAPE.shape));
    const silent = Object.entries(schema.$defs.Job.properties).filter(([, field]) => !hasDescription(field));
    expect(silent).toEqual([]);
  });

  test("accepts the example, and refuses what the reader refuses by its shape", () => {
    const schema = jobJsonSchema() as { $defs: { Job: { allOf?: unknown } } };
    expect(schema.$defs.Job.allOf).toEqual([
      { oneOf: [{ required: ["schedule"] }, { required: ["every"] }, { required: ["at"] }] },
      { oneOf: [{ required: ["command"] }, { required: ["http"] }] },
    ]);
    // zod reads everything of JSON Schema but alternatives beside `properties`.
    delete schema.$defs.Job.allOf;
    const judge = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    const example: unknown = parse(readFileSync(new URL("../../../examples/krond.yaml", import.meta.url), "utf8"));
    expect(judge.safeParse(example).error?.issues).toBeUndefined();
    const job = { identity: "a", schedule: "@daily", command: ["x"] };
    const wrong = [{ job: [] }, { jobs: [{ ...job, polcy: {} }] }, { jobs: [{ ...job, distribution: "poisson" }] }];
    expect(wrong.map((file) => judge.safeParse(file).success)).toEqual([false, false, false]);
  });
});

function hasDescription(field: unknown): boolean {
  return typeof (field as { description?: unknown }).description === "string";
}
