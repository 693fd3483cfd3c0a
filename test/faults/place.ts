/** A configuration, a state directory and a witness, for daemons that are started under conditions of all kinds. */
import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach } from "vitest";
import { type EpochMs, MINUTE_MS } from "../../src/core/time/instant.js";
import type { Programs } from "../support/built-programs.js";
import { jobsOf, killJobsOf, MARK, RunningKrond } from "../support/krond.js";
import type { AccountedJob, Question } from "../torture/account.js";
import { witnessing } from "../torture/witness.js";

export const isRoot = process.geteuid?.() === 0;
/** In no database, so that no other process of the machine counts towards its limits. */
export const SOMEBODY = 61_234;

/** Who the daemon is: ourselves, unless that is root, to whom limits and modes mean nothing. */
export const AS_NORMAL_USER: readonly string[] = asUser(SOMEBODY);

export function asUser(id: number): readonly string[] {
  return isRoot ? ["setpriv", `--reuid=${id}`, `--regid=${id}`, "--clear-groups", "--"] : [];
}

export interface StartOptions {
  /** A command that becomes the daemon, such as `prlimit ... --`. */
  readonly wrap?: readonly string[];
  readonly more?: readonly string[];
  readonly state?: string;
}

export interface FaultPlace {
  readonly root: string;
  readonly state: string;
  readonly config: string;
  readonly witness: string;
  start(options?: StartOptions): RunningKrond;
  /** Runs a control command to its end. */
  krond(...args: string[]): SpawnSyncReturns<string>;
  /** Its exit status; what it says goes nowhere. */
  krondAsync(...args: string[]): Promise<number | null>;
  kronAsync(...args: string[]): Promise<number | null>;
}

/** Nothing of what was started is left after each test: no daemon, no launcher, no job. */
export function faultPlaces(
  programs: () => Programs,
  newDirectory: () => string,
): (text: (place: Made) => string) => FaultPlace {
  const running: RunningKrond[] = [];
  const states: string[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((it) => it.kill()));
    for (const state of states.splice(0)) killJobsOf(state);
  });
  return (text) => {
    const made = makePlace(newDirectory());
    states.push(made.state);
    fs.writeFileSync(made.config, text(made), { mode: 0o644 });
    const run = (file: string, args: readonly string[]): SpawnSyncReturns<string> =>
      spawnSync(process.execPath, [file, ...args, "--state", made.state], { encoding: "utf8", timeout: 60_000 });
    const runAsync = async (file: string, args: readonly string[]): Promise<number | null> => {
      const command = [file, ...args, "--state", made.state];
      const [status] = await once(spawn(process.execPath, command, { stdio: "ignore" }), "close");
      return status as number | null;
    };
    return {
      ...made,
      start: (options = {}) => {
        const it = startDaemon(programs().krond, made, options);
        running.push(it);
        return it;
      },
      krond: (...args) => run(programs().krond, args),
      krondAsync: (...args) => runAsync(programs().krond, args),
      kronAsync: (...args) => runAsync(programs().kron, args),
    };
  };
}

interface Made {
  readonly root: string;
  readonly state: string;
  readonly config: string;
  readonly witness: string;
}

function makePlace(root: string): Made {
  const [state, config, witness] = ["state", "jobs.yaml", "witness"].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  fs.mkdirSync(state, { mode: 0o700 });
  fs.mkdirSync(witness);
  // Whoever the daemon and its jobs are, they may come here.
  fs.chmodSync(root, 0o755);
  fs.chmodSync(witness, 0o777);
  if (isRoot) fs.chownSync(root, 0, 0);
  return { root, state, config, witness };
}

/** For a daemon that is started as a normal user. */
export function giveAway(directory: string, id = SOMEBODY): void {
  if (isRoot) fs.chownSync(directory, id, id);
}

function startDaemon(krond: string, { config, state }: Made, options: StartOptions): RunningKrond {
  const { wrap = [], more = [] } = options;
  const args = ["start", "--config", config, "--state", options.state ?? state, "--log-format", "json", ...more];
  const [program = "", ...rest] = [...wrap, process.execPath, krond, ...args];
  const env = { ...process.env, KRON_CONFIG: "", KRON_STATE: "" };
  return new RunningKrond(spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"], env }));
}

export interface Load {
  readonly jobs: number;
  readonly deadlineMs: number;
  readonly startGraceMs: number;
  /** After the witness. */
  readonly command?: string;
  readonly output?: Readonly<Record<string, unknown>>;
}

/** So many jobs that one or more are due every second of each minute. */
export function everySecond({ jobs, deadlineMs, startGraceMs, command = "exit 0", output = { to: "discard" } }: Load) {
  return ({ state, witness }: Made): string =>
    JSON.stringify({
      start_grace: `${startGraceMs}ms`,
      defaults: { env: { [MARK]: state }, policy: { deadline: `${deadlineMs}ms` }, output },
      jobs: Array.from({ length: jobs }, (_, index) => ({
        identity: `job-${index}`,
        schedule: "* * * * *",
        window: { mode: "after", duration: "59s" },
        shell: true,
        command: `${witnessing(witness)}; ${command}`,
      })),
    });
}

export function questionAbout(place: FaultPlace, load: Load, fromAt: EpochMs, now: EpochMs): Question {
  const jobs: AccountedJob[] = Array.from({ length: load.jobs }, (_, index) => {
    return { identity: `job-${index}`, deadlineMs: load.deadlineMs };
  });
  const { state, witness } = place;
  return {
    state,
    witness,
    jobs,
    startGraceMs: load.startGraceMs,
    fromAt: Math.floor(fromAt / MINUTE_MS) * MINUTE_MS,
    now,
  };
}

/** What such a daemon leaves behind may be read by its owner only. */
export function takeBack(directory: string): void {
  if (isRoot) spawnSync("chown", ["-R", "0:0", directory]);
}

/** Until no job of the place runs. */
export async function quiet({ state }: FaultPlace): Promise<void> {
  while (jobsOf(state).length > 0) await sleep(50);
}

/** `krond stop --graceful`: nothing new begins, and every end is seen. The instant is that of the asking. */
export async function stopGracefully(place: FaultPlace, krond: RunningKrond): Promise<EpochMs> {
  const askedAt = Date.now();
  const status = await place.krondAsync("stop", "--graceful");
  const ended = await krond.ended;
  if (status !== 0 || ended !== 0) throw new Error(`stop: ${status}, the daemon: ${ended}: ${krond.stderr}`);
  return askedAt;
}
