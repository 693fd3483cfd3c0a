/**
 * The operator dies at its k-th request, before the request has its effect and after: for every k, and every policy. Another
 * one comes up in its place, and whatever was begun comes to its end: once, on record, with a reason where nothing ran.
 */
import { describe, expect, test } from "vitest";
import { formatInstant } from "../../src/core/time/instant.js";
import type { KronJob, KronJobSpec } from "../../src/operator/kube/types.js";
import { TestCluster } from "../support/kube/cluster.js";
import { findingsOf } from "../support/kube/ledger.js";

interface Scenario {
  readonly spec: Partial<KronJobSpec>;
  readonly runMs: number;
  /** Beside what the KronJob does by itself. */
  readonly act?: (it: TestCluster) => Promise<unknown>;
  readonly isOver: (kronJob: KronJob) => boolean;
}

const ended = ({ status }: KronJob): number => (status?.history ?? []).length;
const isResting = ({ status }: KronJob): boolean => (status?.activeCount ?? 0) === 0;

const SCENARIOS: readonly (readonly [string, Scenario])[] = [
  [
    "allow",
    { spec: { policy: { concurrency: "allow", deadline: "50s" } }, runMs: 70_000, isOver: (it) => ended(it) >= 2 },
  ],
  [
    "forbid",
    { spec: { policy: { concurrency: "forbid", deadline: "50s" } }, runMs: 70_000, isOver: (it) => ended(it) >= 2 },
  ],
  [
    "replace",
    { spec: { policy: { concurrency: "replace", deadline: "50s" } }, runMs: 90_000, isOver: (it) => ended(it) >= 2 },
  ],
  [
    "suspend",
    {
      spec: { policy: { deadline: "50s" } },
      runMs: 1_000,
      act: async (it) => {
        await it.until("it", (kronJob) => ended(kronJob) >= 1);
        await it.patch("it", { spec: { suspend: true } });
      },
      isOver: (kronJob) => kronJob.status?.suspended === true && isResting(kronJob),
    },
  ],
  [
    "manual run",
    {
      spec: { suspend: true },
      runMs: 1_000,
      act: (it) => {
        const slot = formatInstant(Math.floor(it.clock.now() / 1000) * 1000);
        return it.patch("it", { metadata: { annotations: { "kron.io/run": slot } } });
      },
      isOver: (kronJob) => ended(kronJob) >= 1 && isResting(kronJob),
    },
  ],
];

/** What the operator that is to die is known by. */
const MORTAL = "Bearer mortal";
const TOGETHER = 6;

/** Its clock is fast: where the machine is too busy for it everything comes too late, and it is played once more. */
const TRIES = 4;

async function played(scenario: Scenario, at: number | null, when: "before" | "after"): Promise<number> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const { requests, runs } = await playedOnce(scenario, at, when);
    if (runs > 0) return requests;
  }
  throw new Error(`request ${at}, ${when}: nothing ever runs`);
}

interface Played {
  readonly requests: number;
  readonly runs: number;
}

/** Dies at request `at`; null: never. */
async function playedOnce(scenario: Scenario, at: number | null, when: "before" | "after"): Promise<Played> {
  const it = await TestCluster.openDouble();
  try {
    const { server } = it;
    if (server === null) throw new Error("not the double");
    it.kubelet.runOf = () => ({ ms: scenario.runMs, isSuccess: true });
    let count = 0;
    let died: (value: null) => void = () => undefined;
    const death = new Promise<null>((done) => {
      died = done;
    });
    server.faultOf = ({ authorization, verb }) => {
      if (authorization !== MORTAL || verb === "watch" || verb === "list") return null;
      count += 1;
      if (count !== at) return null;
      died(null);
      return { kind: "reset", when };
    };
    const current = async () => ({ authorization: MORTAL, cert: null, key: null });
    const { operator } = await it.operator({ config: { ...it.config, credentials: { current } } });
    void death.then(async () => {
      operator.abort();
      await it.operator();
    });
    await it.create("it", scenario.spec);
    await scenario.act?.(it);
    await it.until("it", scenario.isOver);
    const { versions, kubelet } = it;
    const findings = findingsOf({ versions, begun: kubelet.begun, deletedUids: new Set(), endedAt: it.clock.now() });
    expect(
      Object.entries(findings).filter(([, found]) => found.length > 0),
      `request ${at}, ${when}`,
    ).toEqual([]);
    return { requests: count, runs: kubelet.begun.length };
  } finally {
    await it.close();
  }
}

describe("an operator dies at every one of its requests", () => {
  test.each(SCENARIOS)("%s", { timeout: 600_000 }, async (_name, scenario) => {
    const requests = await played(scenario, null, "before");
    expect(requests).toBeGreaterThan(5);
    const cases = Array.from({ length: requests }, (_, k) => [k + 1, "before"] as const).flatMap(
      ([at]) =>
        [
          [at, "before"],
          [at, "after"],
        ] as const,
    );
    const next = cases.values();
    const work = async (): Promise<void> => {
      for (const [at, when] of next) await played(scenario, at, when);
    };
    await Promise.all(Array.from({ length: TOGETHER }, work));
  });
});
