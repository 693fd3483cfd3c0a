/** KronJobs of Kubernetes from files: linted with their places, explained as the operator decides, verified from their Jobs. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { decide } from "../../src/core/decision/decide.js";
import { toDecisionRecord } from "../../src/core/decision/record.js";
import { readKronJob } from "../../src/operator/definition.js";
import type { KronJob } from "../../src/operator/kube/types.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();

const MANIFEST = `apiVersion: kron.io/v1alpha1
kind: KronJob
metadata:
  name: report
  namespace: team
spec:
  schedule: "0 3 * * *"
  window: { mode: after, duration: 2h }
  jobTemplate:
    spec: { template: { spec: { restartPolicy: Never, containers: [] } } }
`;
const WITH_UID = MANIFEST.replace("  name: report\n", "  name: report\n  uid: 6f1f0c1e-0000-4000-8000-000000000001\n");

function file(text: string, name = "report.yaml"): string {
  const place = path.join(temporary(), name);
  fs.writeFileSync(place, text);
  return place;
}

function secondOf(at: string): string {
  const kronJob = {
    metadata: { namespace: "team", name: "report", uid: "6f1f0c1e-0000-4000-8000-000000000001" },
    spec: { schedule: "0 3 * * *", window: { mode: "after", duration: "2h" } },
  } as unknown as KronJob;
  const read = readKronJob(kronJob);
  if (!read.ok) throw new Error("cannot be read");
  const decision = decide(read.value.compiled, Date.parse(at));
  return new Date(decision.chosenAt ?? Number.NaN).toISOString().replace(".000", "");
}

describe("kron next and explain", () => {
  test("with the uid of the cluster they show the second that the operator chooses, by either name", async () => {
    const chosen = secondOf("2026-03-01T03:00:00Z");
    for (const name of ["report", "team/report", "team/report/6f1f0c1e-0000-4000-8000-000000000001"]) {
      const argv = ["next", name, "--config", file(WITH_UID), "--count", "1", "-o", "json"];
      const { out, err } = await runCaptured(KRON, argv, { nowAt: Date.parse("2026-02-28T12:00:00Z") });
      expect([JSON.parse(out)[0].chosen_time, err]).toEqual([chosen, ""]);
    }
    const explained = await runCaptured(KRON, [
      "explain",
      "report",
      "--config",
      file(WITH_UID),
      "--at",
      "2026-03-01T06:00:00Z",
    ]);
    expect(explained.out).toContain(chosen);
  });

  test("without a uid they say that these are only examples", async () => {
    const { exitCode, err } = await runCaptured(KRON, ["next", "report", "--config", file(MANIFEST)]);
    expect(exitCode).toBe(0);
    expect(err).toContain("report has no metadata.uid");
    expect(err).toContain("kubectl get kronjob report -o yaml");
  });

  test("what kubectl prints is read from standard input; two of one name need the namespace", async () => {
    const one = JSON.parse(
      `{"kind":"KronJob","metadata":{"name":"report","namespace":"team","uid":"u1"},"spec":{"schedule":"0 3 * * *"}}`,
    );
    const other = { ...one, metadata: { ...one.metadata, namespace: "other", uid: "u2" } };
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: [one, other] }, null, 2);
    const vague = await runCaptured(KRON, ["next", "report", "--config", "-"], { input });
    expect([vague.exitCode, vague.err]).toEqual([1, expect.stringContaining("team/report/u1, other/report/u2")]);
    const exact = await runCaptured(KRON, ["next", "other/report", "--config", "-", "--count", "1"], { input });
    expect(exact.out).toContain("2026-03-01T03:00:00Z");
    const nothing = await runCaptured(KRON, ["next", "--config", "-"], { input: "kind: Deployment\n" });
    expect([nothing.exitCode, nothing.err]).toEqual([2, expect.stringContaining('unknown field "kind"')]);
  });
});

describe("kron lint", () => {
  test("every problem has its line, in a file of several documents and in a list", async () => {
    const bad = MANIFEST.replace("0 3 * * *", "0 0 30 2 *").replace("duration: 2h", "duration: 2x");
    const place = file(`${MANIFEST}---\n${bad}`);
    const { exitCode, out } = await runCaptured(KRON, ["lint", place]);
    expect(exitCode).toBe(2);
    const from = MANIFEST.split("\n").length;
    expect(out).toContain(`${place}:${from + 8}:`);
    expect(out).toMatch(/1 job, [12] errors?/);
    expect((await runCaptured(KRON, ["lint", file(MANIFEST)])).exitCode).toBe(0);
  });

  test("YAML that is none is told with its line", async () => {
    const { exitCode, out } = await runCaptured(KRON, ["lint", file(`${MANIFEST}  bad: [1,\n`)]);
    expect(exitCode).toBe(2);
    expect(out).toMatch(/report\.yaml:\d+:\d+/);
  });
});

describe("kron verify", () => {
  const kronJob = {
    metadata: { namespace: "team", name: "report", uid: "u1" },
    spec: { schedule: "0 3 * * *", window: { mode: "after", duration: "2h" } },
  } as unknown as KronJob;

  function jobs(change: (record: object) => object): string {
    const read = readKronJob(kronJob);
    if (!read.ok) throw new Error("cannot be read");
    const decision = decide(read.value.compiled, Date.parse("2026-03-01T03:00:00Z"));
    const record = toDecisionRecord(read.value.compiled, decision, { tzVersion: "x", engineVersion: "0.1.0" });
    const annotations = { "kron.io/decision": JSON.stringify(change({ ...record })) };
    const job = { kind: "Job", metadata: { name: "report-1", annotations } };
    return JSON.stringify({ kind: "List", items: [job, { kind: "Job", metadata: { name: "plain" } }] }, null, 2);
  }

  test("it finds the decisions that Jobs carry, and the one that was tampered with", async () => {
    const fine = await runCaptured(KRON, ["verify", "-"], { input: jobs((record) => record) });
    expect([fine.exitCode, fine.out]).toEqual([0, "1 verified, 0 different\n"]);
    const input = jobs((record) => ({ ...record, chosen_time: "2026-03-01T03:00:01Z" }));
    const other = await runCaptured(KRON, ["verify", "-"], { input });
    expect([other.exitCode, other.out]).toEqual([2, expect.stringContaining("team/report/u1 2026-03-01T03:00:00Z")]);
  });
});
