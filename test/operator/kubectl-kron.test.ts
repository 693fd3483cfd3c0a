/** The plugin of kubectl, over a cluster: what it asks for is done, and what it tells is what the status says. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KUBECTL_KRON } from "../../src/cli/commands/kube/index.js";
import { type CliResult, runCaptured } from "../support/cli.js";
import { TestCluster } from "../support/kube/cluster.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();
let cluster: TestCluster;
let kubeconfig: string;

beforeEach(async () => {
  cluster = await TestCluster.openDouble();
  kubeconfig = path.join(temporary(), "kubeconfig");
  fs.writeFileSync(kubeconfig, cluster.server?.kubeconfig ?? "");
});

afterEach(() => cluster.close());

function kron(...argv: readonly string[]): Promise<CliResult> {
  const more = ["-n", cluster.namespace, "--kubeconfig", kubeconfig];
  return runCaptured(KUBECTL_KRON, [...argv, ...more], { nowAt: cluster.clock.now() });
}

test("run: a Job starts beside the schedule; why: what became of it", async () => {
  await cluster.operator();
  await cluster.create("report", { suspend: true });
  await cluster.until("report", ({ status }) => status?.suspended === true);
  const asked = await kron("run", "report");
  expect([asked.exitCode, asked.err]).toEqual([0, ""]);
  const slot = /slot (\S+)/.exec(asked.out)?.[1] ?? "";
  await cluster.until("report", ({ status }) => status?.history?.length === 1);
  const why = await kron("why", `report@${slot}`);
  expect(why.out).toContain(`${cluster.namespace}/report@${slot}: executed: Job report-`);
  expect(why.out).toContain("Ready=False Suspended");
});

test("run --if-idle is refused while a Job is active, and says which", async () => {
  cluster.kubelet.runOf = () => ({ ms: 3_600_000, isSuccess: true });
  await cluster.operator();
  await cluster.create("busy", {});
  const { status } = await cluster.until("busy", (kronJob) => (kronJob.status?.active ?? []).length > 0);
  const refused = await kron("run", "busy", "--if-idle");
  expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining(status?.active?.[0]?.name ?? "?")]);
});

test("pause and resume write what the operator reads", async () => {
  await cluster.operator();
  await cluster.create("report", {});
  const paused = await kron("pause", "report", "--until", "2h", "--reason", "migration");
  expect(paused.out).toContain("is paused until ");
  const ready = (reason: string) =>
    cluster.until("report", ({ status }) => status?.conditions?.some((one) => one.reason === reason) === true);
  await ready("Paused");
  expect((await kron("resume", "report")).exitCode).toBe(0);
  await ready("Scheduled");
  const { metadata } = await cluster.until(
    "report",
    ({ metadata }) => metadata.annotations?.["kron.io/pause-until"] === undefined,
  );
  expect(metadata.annotations?.["kron.io/pause-reason"]).toBeUndefined();
});

test("next and explain compute the seconds that stand in the status", async () => {
  await cluster.operator();
  await cluster.create("spread", { schedule: "30 * * * *", window: { mode: "after", duration: "20m" } });
  const { status } = await cluster.until("spread", (kronJob) => kronJob.status?.nextChosenTime !== undefined);
  const next = await kron("next", "spread", "--count", "1", "-o", "json");
  expect(JSON.parse(next.out)).toMatchObject([{ chosen_time: status?.nextChosenTime }]);
  const explained = await kron("explain", "spread", "--at", status?.nextPeriodID ?? "");
  expect(explained.out).toContain(status?.nextChosenTime);
});

test("bad input: no such KronJob, no name, a pause without end, a period that is none, a spec that cannot be read", async () => {
  await cluster.create("odd", { schedule: "0 0 30 2 *" });
  expect(await kron("why", "nobody")).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining("there is no KronJob nobody"),
  });
  expect(await kron("run")).toMatchObject({ exitCode: 1, err: expect.stringContaining("run takes one job") });
  expect(await kron("pause", "odd", "--reason", "x")).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining("a pause needs an end"),
  });
  expect(await kron("why", "odd@soon")).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('"soon" is no period'),
  });
  expect(await kron("next", "odd")).toMatchObject({ exitCode: 2, err: expect.stringContaining("spec.schedule: ") });
});
