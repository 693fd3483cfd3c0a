/** A campaign against operators, however these are run: KronJobs of every policy, users that delete Jobs, API restarts. */
import { spawn } from "node:child_process";
import { expect } from "vitest";
import type { SplitMix64 } from "../../../src/core/decision/prng.js";
import { OUTCOMES } from "../../../src/core/state/document.js";
import { POD_TEMPLATE, type TestCluster } from "./cluster.js";
import { type Findings, findingsOf, outcomesOf } from "./ledger.js";

/** Those who are killed and frozen. */
export interface Crew {
  /** Something happens to one of them; what, in one word. */
  disturb(): Promise<string>;
  /** All of them are up, and nothing happens to them any more. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export interface CampaignOptions {
  readonly random: SplitMix64;
  readonly kronJobs: number;
  readonly seconds: number;
  /** Of real time. */
  readonly stepMs: number;
  readonly windowOf: (n: number) => { readonly mode: string; readonly duration: string } | null;
  /** How often in a step, 0 to 1. */
  readonly disturbances: number;
  readonly restarts: number;
  readonly deletions: number;
  /** Until when an outcome has to stand here. */
  readonly settledMs?: number;
}

/** What is only late may still come when nothing happens any more. */
const CALM_MS = 20_000;

/** What restarts the API server of a real cluster: a command for the shell, which ends when it is under way. */
const RESTART_COMMAND = process.env["KRON_TEST_API_RESTART"];
const POLICIES = ["forbid", "allow", "replace", "forbid"] as const;

export async function campaign(it: TestCluster, crew: Crew, options: CampaignOptions): Promise<string> {
  const { random, kronJobs, seconds, stepMs } = options;
  const chance = (share: number): boolean => random.nextUnit() < share;
  it.kubelet.runOf = () => ({ ms: random.nextUnit() * 90_000, isSuccess: chance(0.8) });
  it.kubelet.stopMs = 2_000;
  for (let n = 0; n < kronJobs; n++) await created(it, `job-${n}`, specOf(n, options));
  const deletedUids = new Set<string>();
  const restartsAt: number[] = [];
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    await new Promise((done) => setTimeout(done, stepMs));
    if (chance(options.deletions)) await deleteSomeJob(it, random, deletedUids);
    if (chance(options.restarts) && (await restartApi(it))) {
      count("API restarts");
      if (it.server === null) restartsAt.push(it.clock.now());
    }
    if (chance(options.disturbances)) count(await crew.disturb());
  }
  await crew.settle();
  const endedAt = it.clock.now();
  const about = {
    deletedUids,
    restartsAt,
    endedAt,
    ...(options.settledMs === undefined ? {} : { settledMs: options.settledMs }),
  };
  const found = (): Findings => findingsOf({ versions: it.versions, begun: it.kubelet.begun, ...about });
  const calmUntil = performance.now() + CALM_MS;
  while (performance.now() < calmUntil && Object.values(found()).some((all) => all.length > 0)) {
    await new Promise((done) => setTimeout(done, 500));
  }
  await crew.stop();
  const { kubelet } = it;
  const findings = found();
  const nothing = {
    twice: [],
    unclaimed: [],
    changed: [],
    silent: [],
    neverRan: [],
    early: [],
    late: [],
    overlaps: [],
  };
  expect(findings).toEqual(nothing);
  expect(kubelet.begun.length).toBeGreaterThan(kronJobs);
  const witnessed = { versions: it.versions, begun: kubelet.begun, ...about };
  const besides = findingsOf({ ...witnessed, restartsAt: [] }).overlaps.length;
  if (besides > 0) counts.set("pods beside one that a restart made the cluster forget", besides);
  const told = [...counts].map(([what, times]) => `${times} ${what}`).join(", ");
  return `${talliesOf(it)}; ${kronJobs} KronJobs, ${deletedUids.size} Jobs deleted, ${told}`;
}

/** What became of the periods that came up, and how many Jobs and pods that took. */
function talliesOf({ versions, kubelet: { begun } }: TestCluster): string {
  const outcomes = new Map<string, string>();
  for (const [period, [outcome = ""]] of outcomesOf(versions)) outcomes.set(period, outcome);
  const all = [...outcomes.values()];
  const told = OUTCOMES.map((outcome) => `${all.filter((one) => one === outcome).length} ${outcome}`).join(", ");
  const jobs = new Set(begun.map(({ jobUid }) => jobUid)).size;
  return `${all.length} periods (${told}), ${jobs} Jobs ran in ${begun.length} pods`;
}

/** What befalls the operators befalls this as well. */
async function created(it: TestCluster, name: string, spec: ReturnType<typeof specOf>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await it.create(name, spec);
      return;
    } catch (error) {
      const isThere = error instanceof Error && error.message.includes("AlreadyExists");
      if (isThere) return;
      if (tries === 20) throw error;
    }
  }
}

function specOf(n: number, { windowOf }: CampaignOptions) {
  const window = windowOf(n);
  const ttl = n % 3 === 0 ? { ttlSecondsAfterFinished: 0 } : {};
  return {
    policy: { concurrency: POLICIES[n % POLICIES.length] ?? "forbid", deadline: n % 2 === 0 ? "40s" : "0s" },
    ...(window === null ? {} : { window }),
    // A Job that tries again by itself would run for longer than a campaign.
    jobTemplate: { spec: { ...POD_TEMPLATE.spec, backoffLimit: 0, ...ttl } },
  };
}

async function restartApi({ server }: TestCluster): Promise<boolean> {
  if (server !== null) {
    server.restart();
    return true;
  }
  if (RESTART_COMMAND === undefined) return false;
  const child = spawn("/bin/sh", ["-c", RESTART_COMMAND], { stdio: "inherit" });
  await new Promise((done) => child.on("close", done));
  return true;
}

async function deleteSomeJob(it: TestCluster, random: SplitMix64, deletedUids: Set<string>): Promise<void> {
  const jobs = await it.jobs().catch(() => []);
  const victim = jobs[Math.floor(random.nextUnit() * jobs.length)];
  if (victim === undefined) return;
  const { uid, name } = victim.metadata;
  // Noted first: an answer that is lost may have been a deletion.
  deletedUids.add(uid);
  await it
    .delete(`${it.jobsPath}/${name}`, { propagationPolicy: "Background", preconditions: { uid } })
    .catch(() => undefined);
}
