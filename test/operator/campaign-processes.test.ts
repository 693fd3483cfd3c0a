/**
 * Two operators as processes of their own, both active, killed and stopped by signals at any moment, over real time: the
 * double, or the cluster of KRON_TEST_KUBECONFIG. `npm run torture -- operator --seconds 3600 --kubeconfig PATH`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, expect, inject, test } from "vitest";
import { systemClock } from "../../src/actors/clock.js";
import { SplitMix64 } from "../../src/core/decision/prng.js";
import { type Crew, campaign } from "../support/kube/campaign.js";
import { REAL_KUBECONFIG, TestCluster } from "../support/kube/cluster.js";
import { temporaryDirectories } from "../support/temporary.js";

const SECONDS = Number(process.env["KRON_TEST_CAMPAIGN_SECONDS"] ?? 120);
const SEED = process.env["KRON_TEST_SEED"] ?? "00000000c0ffee00";
/** With the rights of an operator and no others; absent: with those of the suite. */
const OPERATOR_KUBECONFIG = process.env["KRON_TEST_OPERATOR_KUBECONFIG"];
const KRONJOBS = Number(process.env["KRON_TEST_CAMPAIGN_KRONJOBS"] ?? 34);
/** Window, deadline and grace, two seconds for a pod to go, and half a minute for a look that was late. */
const SETTLED_MS = 180_000;
/** As this run has built it. */
const PROGRAM = path.join(path.dirname(inject("programs").kron), "kron-operator.js");
/** Of what one that gives up has to say. */
const SAID_CHARS = 500;
const temporary = temporaryDirectories();
const children = new Set<ChildProcess>();
let cluster: TestCluster | null = null;

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await cluster?.close();
  cluster = null;
});

class Processes implements Crew {
  readonly #args: readonly string[];
  readonly #random: SplitMix64;
  readonly #slots: (ChildProcess | null)[] = [null, null];
  readonly #frozen = new Set<Promise<void>>();
  /** Nobody told them to. */
  readonly gaveUp: string[] = [];
  #isStopping = false;

  constructor(kubeconfig: string, namespace: string, random: SplitMix64) {
    this.#args = [PROGRAM, "start", "--kubeconfig", kubeconfig, "--namespace", namespace, "--no-lease"];
    this.#random = random;
    this.#fill();
  }

  async disturb(): Promise<string> {
    this.#fill();
    const place = this.#random.nextUnit() < 0.5 ? 0 : 1;
    const child = this.#slots[place];
    if (this.#random.nextUnit() < 0.5) {
      child?.kill("SIGKILL");
      this.#slots[place] = null;
      this.#fill();
      return "SIGKILLs";
    }
    const thawed = this.#freeze(child).then(() => void this.#frozen.delete(thawed));
    this.#frozen.add(thawed);
    return "SIGSTOPs";
  }

  /** Nobody waits for it: everything else goes on meanwhile. */
  async #freeze(child: ChildProcess | null | undefined): Promise<void> {
    const forMs = 1_000 + this.#random.nextUnit() * 8_000;
    child?.kill("SIGSTOP");
    await new Promise((done) => setTimeout(done, forMs));
    child?.kill("SIGCONT");
  }

  async settle(): Promise<void> {
    this.#fill();
    await Promise.all(this.#frozen);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const running = this.#slots.filter((child) => child !== null && isRunning(child));
    const ended = running.map((child) => new Promise((done) => child?.on("close", done)));
    for (const child of running) child?.kill("SIGTERM");
    await Promise.all(ended);
  }

  /** Whoever is gone is started again, as a Deployment does it. */
  #fill(): void {
    for (const [place, child] of this.#slots.entries()) {
      if (child !== null && isRunning(child)) continue;
      const fresh = spawn(process.execPath, this.#args, { stdio: ["ignore", "ignore", "pipe"] });
      let said = "";
      fresh.stderr?.on("data", (chunk: Buffer) => {
        said = `${said}${chunk.toString()}`.slice(-SAID_CHARS);
      });
      children.add(fresh);
      fresh.on("close", (exitCode) => {
        children.delete(fresh);
        if (exitCode !== null && !this.#isStopping) this.gaveUp.push(`exit code ${exitCode}: ${said}`);
      });
      this.#slots[place] = fresh;
    }
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

test("operators as processes, killed and frozen: at most once, in time, on record", {
  timeout: (SECONDS + 120) * 1000,
}, async () => {
  const it =
    REAL_KUBECONFIG === undefined ? await TestCluster.openDouble({ clock: systemClock }) : await TestCluster.open();
  cluster = it;
  const random = new SplitMix64(SEED);
  const kubeconfig = REAL_KUBECONFIG ?? path.join(temporary(), "kubeconfig");
  if (it.server !== null) {
    fs.writeFileSync(kubeconfig, it.server.kubeconfig);
    it.server.watchLagMs = () => (random.nextUnit() < 0.2 ? random.nextUnit() * 800 : 0);
  }
  const crew = new Processes(OPERATOR_KUBECONFIG ?? kubeconfig, it.namespace, random);
  const windowOf = (n: number) => (n % 5 === 0 ? null : { mode: n % 5 === 1 ? "around" : "after", duration: "30s" });
  const shares = { disturbances: 0.08, restarts: 0.006, deletions: 0.06 };
  const told = await campaign(it, crew, {
    random,
    kronJobs: KRONJOBS,
    seconds: SECONDS,
    stepMs: 500,
    settledMs: SETTLED_MS,
    windowOf,
    ...shares,
  });
  console.log(`${told}, seed ${SEED}`);
  expect(crew.gaveUp).toEqual([]);
});
