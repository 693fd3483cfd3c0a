/**
 * Two operators that are both active all the time, crashes between any two requests, watches that lag, API servers that
 * restart, users who delete Jobs: no period runs twice, none runs off the record, and each has its outcome or is told
 * as not evaluated. KRON_TEST_CAMPAIGN_SECONDS=3600 is the long form (against the cluster of KRON_TEST_KUBECONFIG too).
 */
import { afterEach, expect, test } from "vitest";
import { SplitMix64 } from "../../src/core/decision/prng.js";
import type { KronJob } from "../../src/operator/kube/types.js";
import { TestCluster } from "../support/kube/cluster.js";

const SECONDS = Number(process.env["KRON_TEST_CAMPAIGN_SECONDS"] ?? 12);
const SEED = process.env["KRON_TEST_SEED"] ?? "00000000c0ffee00";
const KRONJOBS = 8;
let cluster: TestCluster | null = null;

afterEach(async () => {
  await cluster?.close();
  cluster = null;
});

/** What the status told over time: by KronJob and period the outcomes, and the periods told as not evaluated. */
function ledgerOf(versions: readonly KronJob[]): {
  readonly outcomes: ReadonlyMap<string, Set<string>>;
  readonly notEvaluated: (name: string, periodId: string) => boolean;
  readonly claimedUids: ReadonlySet<string>;
} {
  const outcomes = new Map<string, Set<string>>();
  const gaps: { name: string; first: string; last: string }[] = [];
  const claimedUids = new Set<string>();
  const note = (name: string, periodId: string, outcome: string): void => {
    const key = `${name} ${periodId}`;
    outcomes.set(key, (outcomes.get(key) ?? new Set()).add(outcome));
  };
  for (const { metadata, status } of versions) {
    const { name } = metadata;
    if (status?.lastPeriodID !== undefined) note(name, status.lastPeriodID, status.lastOutcome ?? "");
    for (const { periodID, outcome } of status?.history ?? []) note(name, periodID, outcome);
    for (const { periodID, uid } of status?.active ?? []) {
      note(name, periodID, "executed");
      claimedUids.add(uid);
    }
    const gap = status?.notEvaluated;
    if (gap !== undefined) gaps.push({ name, first: gap.firstPeriodID, last: gap.lastPeriodID });
  }
  const notEvaluated = (name: string, periodId: string): boolean =>
    gaps.some((gap) => gap.name === name && gap.first <= periodId && periodId <= gap.last);
  return { outcomes, notEvaluated, claimedUids };
}

test("0 duplicates, nothing off the record, every period accounted for", {
  timeout: (SECONDS + 60) * 1000,
}, async () => {
  const it = await TestCluster.open();
  cluster = it;
  const random = new SplitMix64(SEED);
  const chance = (share: number): boolean => random.nextUnit() < share;
  it.kubelet.runOf = () => ({ ms: random.nextUnit() * 90_000, isSuccess: chance(0.8) });
  const policies = ["forbid", "allow", "replace", "forbid"] as const;
  for (let n = 0; n < KRONJOBS; n++) {
    const ttl = n % 3 === 0 ? { ttlSecondsAfterFinished: 0 } : {};
    const { spec } = {
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } } },
    };
    await it.create(`job-${n}`, {
      policy: { concurrency: policies[n % policies.length] ?? "forbid", deadline: n % 2 === 0 ? "40s" : "0s" },
      window: n % 4 === 1 ? { mode: "around", duration: "30s" } : {},
      jobTemplate: { spec: { ...spec, ...ttl } },
    });
  }
  const { server } = it;
  const deaths = { count: 0 };
  const slots = [await it.operator(), await it.operator()];
  if (server !== null) {
    server.watchLagMs = () => (chance(0.3) ? random.nextUnit() * 60 : 0);
    server.faultOf = ({ verb, resource }) => {
      if (resource.name === "pods" || verb === "watch" || verb === "list") return null;
      // Between any two requests a leader may die; another one comes up in its place.
      if (chance(0.01)) void replaceOne();
      if (chance(0.02)) return { kind: "reset", when: chance(0.5) ? "after" : "before" };
      return chance(0.01) ? { kind: "status", status: 500, reason: "InternalError" } : null;
    };
  }
  let isReplacing = false;
  const replaceOne = async (): Promise<void> => {
    if (isReplacing) return;
    isReplacing = true;
    const place = chance(0.5) ? 0 : 1;
    slots[place]?.operator.abort();
    deaths.count += 1;
    slots[place] = await it.operator();
    isReplacing = false;
  };
  const until = performance.now() + SECONDS * 1000;
  while (performance.now() < until) {
    await new Promise((done) => setTimeout(done, 150));
    if (chance(0.3)) await deleteSomeJob(it, random);
    if (chance(0.08)) server?.restart();
    if (server === null && chance(0.05)) await replaceOne();
  }
  if (server !== null) {
    server.faultOf = () => null;
    server.watchLagMs = () => 0;
  }
  for (const { operator } of slots) await operator.stop();
  judge(it, deaths.count);
});

async function deleteSomeJob(it: TestCluster, random: SplitMix64): Promise<void> {
  const jobs = await it.jobs().catch(() => []);
  const victim = jobs[Math.floor(random.nextUnit() * jobs.length)];
  if (victim === undefined) return;
  const body = { propagationPolicy: "Background", preconditions: { uid: victim.metadata.uid } };
  await it.delete(`${it.jobsPath}/${victim.metadata.name}`, body).catch(() => undefined);
}

function judge(it: TestCluster, deaths: number): void {
  const { outcomes, notEvaluated, claimedUids } = ledgerOf(it.versions);
  const runs = it.kubelet.begun.map(({ kronJob, periodId }) => `${kronJob} ${periodId}`);
  const twice = runs.filter((run, index) => runs.indexOf(run) !== index);
  expect(twice, "periods that ran twice").toEqual([]);
  const strangers = it.kubelet.begun.filter(({ jobUid }) => !claimedUids.has(jobUid));
  expect(strangers, "Jobs that ran without a claim").toEqual([]);
  const changed = [...outcomes].filter(([, all]) => all.size > 1);
  expect(changed, "periods with two outcomes").toEqual([]);
  const unexplained = runs.filter((run) => !outcomes.get(run)?.has("executed"));
  expect(unexplained, "runs that are not on record").toEqual([]);
  expect(missing(outcomes, notEvaluated), "periods without a word").toEqual([]);
  expect(runs.length).toBeGreaterThan(KRONJOBS);
  if (SECONDS > 60)
    console.log(`${outcomes.size} periods with an outcome, ${runs.length} runs, ${deaths} deaths, seed ${SEED}`);
  if (it.server !== null) expect(deaths).toBeGreaterThan(0);
}

/** Every minute between the first and the last period that a KronJob handled has its outcome, or was told. */
function missing(
  outcomes: ReadonlyMap<string, ReadonlySet<string>>,
  notEvaluated: (name: string, periodId: string) => boolean,
): readonly string[] {
  const silent: string[] = [];
  for (let n = 0; n < KRONJOBS; n++) {
    const name = `job-${n}`;
    const periods = [...outcomes.keys()]
      .filter((key) => key.startsWith(`${name} `))
      .map((key) => key.slice(name.length + 1));
    const [first, last] = [periods.sort()[0], periods.sort().at(-1)];
    if (first === undefined || last === undefined) continue;
    for (let at = Date.parse(first); at <= Date.parse(last); at += 60_000) {
      const periodId = new Date(at).toISOString().replace(".000", "");
      if (!outcomes.has(`${name} ${periodId}`) && !notEvaluated(name, periodId)) silent.push(`${name} ${periodId}`);
    }
  }
  return silent;
}
