/** What is deployed: the CRD says what the operator reads and writes, and the rights are those that its requests need. */
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { manifests, RIGHTS } from "../../scripts/operator-manifests.mjs";
import { OUTCOMES } from "../../src/core/state/document.js";
import { readKronJob } from "../../src/operator/definition.js";
import { Leader } from "./support/drive.js";
import { kronJob } from "./support/samples.js";

type Fields = Record<string, unknown>;

const FOLDER = "deploy/operator";

function documents(file: string): Fields[] {
  return parseAllDocuments(fs.readFileSync(`${FOLDER}/${file}`, "utf8")).map((document) => document.toJSON() as Fields);
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}

const schema = at(documents("crd.yaml")[0], "spec", "versions", 0, "schema", "openAPIV3Schema", "properties");

describe("the CRD", () => {
  test("names, scope and shortcuts are the ones that users type", () => {
    expect(documents("crd.yaml")[0]).toMatchObject({
      metadata: { name: "kronjobs.kron.io" },
      spec: {
        group: "kron.io",
        scope: "Namespaced",
        names: { kind: "KronJob", shortNames: ["kj"], categories: ["all", "kron"] },
      },
    });
  });

  test("every field of a status that was written is in the schema: none would be pruned", () => {
    const one = new Leader(
      kronJob(
        { policy: { concurrency: "forbid", deadline: "30s" } },
        { annotations: { "kron.io/run": "2026-03-01T00:04:00Z" } },
      ),
    );
    for (const time of ["00:04:01", "00:05:00", "00:10:00", "01:00:00"]) {
      one.look(`2026-03-01T${time}Z`);
      for (const name of one.jobNames) one.finish(name);
      one.look(`2026-03-01T${time}Z`);
    }
    expect(one.status.history?.length).toBeGreaterThan(1);
    expect(one.status.notEvaluated).toBeDefined();
    const annotations = { "kron.io/pause-until": "2026-03-01T03:00:30Z", "kron.io/pause-reason": "upgrade" };
    one.edit((it) => ({ ...it, metadata: { ...it.metadata, annotations } }));
    one.look("2026-03-01T01:00:10Z");
    const paused = one.status;
    one.look("2026-03-01T03:00:40Z");
    expect([paused.pause, one.status.evaluatesFrom, one.status.notEvaluated?.reason]).not.toContain(undefined);
    for (const status of [paused, one.status]) expect(unknownFields(status, at(schema, "status"))).toEqual([]);
    expect(at(schema, "status", "properties", "lastOutcome", "enum")).toEqual(OUTCOMES);
  });

  test("kubectl explain describes every field of spec and status, and no word of it became a field", () => {
    for (const part of ["spec", "status"]) {
      expect(undescribed(at(schema, part), part)).toEqual([]);
      expect(strangeWords(at(schema, part), part)).toEqual([]);
    }
  });

  test("the chart has the same CRD, and keeps it", () => {
    const text = fs.readFileSync(`${FOLDER}/chart/templates/crd.yaml`, "utf8").replace(/^\{\{.*\}\}$/gm, "");
    const chart = parse(text) as Fields;
    expect(at(chart, "metadata", "annotations")).toEqual({ "helm.sh/resource-policy": "keep" });
    expect(chart["spec"]).toEqual(documents("crd.yaml")[0]?.["spec"]);
  });
});

function unknownFields(value: unknown, shape: unknown, path = "status"): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => unknownFields(item, at(shape, "items"), `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  if (at(shape, "additionalProperties") !== undefined) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const known = at(shape, "properties", key);
    return known === undefined ? [`${path}.${key}`] : unknownFields(inner, known, `${path}.${key}`);
  });
}

/** What a Job is, Kubernetes describes, and lists are described as such. */
const DESCRIBED_ELSEWHERE = "spec.jobTemplate.spec";

function undescribed(shape: unknown, path: string): string[] {
  const own = at(shape, "description") === undefined ? [path] : [];
  if (path === DESCRIBED_ELSEWHERE) return own;
  const fields = Object.entries((at(shape, "properties") ?? {}) as Fields);
  return [...own, ...fields.flatMap(([name, inner]) => undescribed(inner, `${path}.${name}`))];
}

const SCHEMA_WORDS =
  /^(type|description|default|enum|format|pattern|nullable|required|items|properties|additionalProperties|m(in|ax)(imum|Length|Items)|exclusiveMinimum|x-kubernetes-[a-z-]+)$/;

/** A comma ends a word in a flow mapping: the rest of a sentence would be a field that no API server takes. */
function strangeWords(shape: unknown, path: string): string[] {
  const own = Object.keys((shape ?? {}) as Fields).filter((word) => !SCHEMA_WORDS.test(word));
  const fields = Object.entries((at(shape, "properties") ?? {}) as Fields);
  const items = at(shape, "items") === undefined ? [] : strangeWords(at(shape, "items"), `${path}[]`);
  const inner = fields.flatMap(([name, field]) => strangeWords(field, `${path}.${name}`));
  return [...own.map((word) => `${path}: ${word}`), ...items, ...inner];
}

const RULES = [
  ["kron.io", "kronjobs", ["get", "list", "watch"]],
  ["kron.io", "kronjobs/status", ["patch"]],
  ["kron.io", "kronjobs/finalizers", ["update"]],
  ["batch", "jobs", ["get", "list", "watch", "create", "patch", "delete"]],
  ["", "events", ["create", "patch"]],
] as const;

test("the example is the one of the page, and a KronJob that can be read", () => {
  const text = fs.readFileSync("examples/operator/report.yaml", "utf8");
  expect(fs.readFileSync("docs/operator.md", "utf8")).toContain(text.slice(text.indexOf("\n") + 1));
  const example = parse(text) as { readonly spec: Parameters<typeof kronJob>[0] };
  expect(readKronJob(kronJob(example.spec))).toMatchObject({ ok: true });
});

describe("rights and pods", () => {
  test.each([
    ["rbac.yaml", "ClusterRole"],
    ["rbac-namespaced.yaml", "Role"],
  ])("%s: the least that it needs", (file, kind) => {
    const role = documents(file).find((it) => it["kind"] === kind && at(it, "metadata", "name") === "kron-operator");
    const rules = ((role?.["rules"] ?? []) as Fields[]).filter((rule) => !JSON.stringify(rule).includes("leases"));
    expect(rules).toEqual(
      RULES.map(([group, resource, verbs]) => ({ apiGroups: [group], resources: [resource], verbs })),
    );
  });

  test("the pod may run where Pod security is restricted", () => {
    const pod = at(documents("deployment.yaml")[0], "spec", "template", "spec");
    expect(at(pod, "securityContext")).toEqual({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(at(pod, "containers", 0, "securityContext")).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("what manifests and chart have in common is what the generator writes: node scripts/operator-manifests.mjs", () => {
    const written = manifests();
    expect([...written.keys()].sort()).toEqual([
      "chart/templates/advice.yaml",
      "chart/templates/crd.yaml",
      "chart/templates/rbac.yaml",
      "rbac-namespaced.yaml",
      "rbac.yaml",
    ]);
    for (const [file, text] of written) expect(fs.readFileSync(`${FOLDER}/${file}`, "utf8"), file).toBe(text);
    expect(RIGHTS).toEqual(RULES);
  });

  test("values of the chart fit their schema's names", () => {
    const values = parse(fs.readFileSync(`${FOLDER}/chart/values.yaml`, "utf8")) as Fields;
    const known = at(JSON.parse(fs.readFileSync(`${FOLDER}/chart/values.schema.json`, "utf8")), "properties") as Fields;
    expect(Object.keys(values).filter((name) => known[name] === undefined)).toEqual([]);
  });
});
