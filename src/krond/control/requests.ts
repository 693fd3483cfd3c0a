/** What each request does. Everything that only reads is answered from the store, as it is when no daemon runs. */
import type { Clock } from "../../actors/clock.js";
import type { DaemonStatus, Supervisor } from "../../actors/supervisor/port.js";
import type { Problem } from "../../core/base/problem.js";
import { assertNever } from "../../core/base/result.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { formatPath, formatPlace } from "../../core/config/format-problem.js";
import type { LocatedProblem } from "../../core/config/located.js";
import type { Settings } from "../../core/config/settings.js";
import { readHint } from "../../core/governor/hint.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import type { WhyAnswer } from "../../core/why/facts.js";
import type { StateStore } from "../../persist/store.js";
import { safeFinding } from "../boot/safe-findings.js";
import type { ControlErrorKind } from "../control-answers.js";
import type { ReloadReport } from "../reload-report.js";
import { type HintsAnswer, readHints } from "../state/hints.js";
import { readHistory } from "../state/history.js";
import { readAllHistory } from "../state/history-of-all.js";
import { readWhy } from "../state/why.js";
import { listPage } from "./list-request.js";
import { nearIdentity } from "./near-identity.js";
import type { ControlOp, ControlRequest } from "./protocol.js";

type HintRequest = Extract<ControlRequest, { readonly op: "hint" }>;
type WhyRequest = Extract<ControlRequest, { readonly op: "why" }>;

export interface ControlPorts {
  readonly supervisor: Supervisor;
  readonly store: StateStore;
  readonly clock: Clock;
  readonly stateDirectory: string;
  settings(): Settings;
  reload(): Promise<ReloadReport>;
  plan(onThisHost: boolean): Promise<ReloadReport>;
  isStopping(): boolean;
  stop(graceful: boolean): void;
}

/** Why a request is not carried out. */
export class ControlRefusal extends Error {
  constructor(
    readonly kind: ControlErrorKind,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
    this.name = "ControlRefusal";
  }
}

export interface StatusAnswer extends DaemonStatus {
  readonly pid: number;
  readonly version: string;
  readonly stateDirectory: string;
}

/** A reload or a plan, with its findings as lines. */
export interface PlanAnswer extends Omit<ReloadReport, "findings" | "notStartable"> {
  readonly problems: readonly string[];
  /** Only where it was asked for. */
  readonly notStartable?: readonly string[];
}

/** While the daemon drains it answers, and ends what it is asked to end. */
const STARTS_SOMETHING: ReadonlySet<ControlOp> = new Set<ControlOp>([
  "reload",
  "run",
  "pause",
  "resume",
  "hint",
  "unhint",
]);

/** Of a name that there is not, it adds the one that was probably meant. */
export async function answerControl(request: ControlRequest, ports: ControlPorts): Promise<unknown> {
  try {
    return await answerTo(request, ports);
  } catch (error) {
    if (!(error instanceof ControlRefusal && error.kind === "not-found" && "identity" in request)) throw error;
    const near = await nearIdentity(request.identity, ports.supervisor.identities());
    throw near === null ? error : new ControlRefusal(error.kind, error.message, `did you mean "${near}"?`);
  }
}

async function answerTo(request: ControlRequest, ports: ControlPorts): Promise<unknown> {
  const { supervisor, store, clock } = ports;
  if (ports.isStopping() && STARTS_SOMETHING.has(request.op)) {
    throw new ControlRefusal("refused", "the daemon is stopping: it starts nothing any more");
  }
  switch (request.op) {
    case "status":
      return statusAnswer(ports);
    case "list":
      return listPage(supervisor, store, request);
    case "plan":
      return planAnswer(await ports.plan(request.onThisHost === true));
    case "reload":
      return planAnswer(await ports.reload());
    case "stop":
      ports.stop(request.graceful);
      return null;
    case "run":
      return runNow(ports, request.identity, request.ifIdle === true);
    case "cancel":
      await mustExist(store, request.identity);
      return { ended: await cancel(supervisor, request.identity, request.periodAt) };
    case "pause": {
      const { identity, untilAt, reason, catchUp: catchesUp } = request;
      if (untilAt <= clock.now()) throw new ControlRefusal("refused", "the end of the pause lies in the past");
      return done(await supervisor.pause(identity, untilAt, reason, catchesUp), identity);
    }
    case "resume":
      return done(await supervisor.resume(request.identity), request.identity);
    case "hint":
      return hint(ports, request);
    case "unhint":
      done(await supervisor.clearHints(request.identity, request.kind), request.identity);
      return hints(ports, request.identity);
    case "hints":
      return hints(ports, request.identity);
    case "history":
      return found(await readHistory(store, request), request.identity);
    case "history_of_all":
      return readAllHistory(store, request);
    case "why":
      return found(await why(ports, request), request.identity);
    default:
      return assertNever(request, "request");
  }
}

/** Judged here, whatever sent it: one that is refused changes nothing. */
async function hint(ports: ControlPorts, request: HintRequest): Promise<HintsAnswer> {
  const { supervisor, clock } = ports;
  const { identity } = request;
  const read = readHint(request, clock.now());
  if (!read.ok) throw new ControlRefusal("refused", read.error.map(fieldMessage).join("; "));
  const answer = await supervisor.hint(identity, read.value);
  if (answer === "unknown") throw noJob(identity);
  if (answer === "used")
    throw new ControlRefusal("refused", "nextRunAt: a run for this instant, or a later one, was hinted before");
  return hints(ports, identity);
}

function fieldMessage({ path, message }: Problem): string {
  return `${path.join(".")}: ${message}`;
}

async function hints({ store, clock }: ControlPorts, identity: string): Promise<HintsAnswer> {
  return found(await readHints(store, identity, clock.now()), identity);
}

function why({ store, clock, settings, isStopping }: ControlPorts, request: WhyRequest): Promise<WhyAnswer | null> {
  const now = request.at ?? clock.now();
  return readWhy(store, { ...request, now, ledger: settings().ledger, isStopping: isStopping() });
}

function statusAnswer({ supervisor, stateDirectory }: ControlPorts): StatusAnswer {
  return { ...supervisor.status(), pid: process.pid, version: ENGINE_VERSION, stateDirectory };
}

function planAnswer({ plan, findings, kept, notStartable }: ReloadReport): PlanAnswer {
  // 'krond reload' is what a service manager calls: its output ends up in a journal.
  const located = findings.map((finding) => safeFinding(finding).located);
  const problems = located.map((it) => {
    const { path, message } = it.problem;
    return `${formatPlace(it)}: ${path.length === 0 ? "" : `${formatPath(path)}: `}${message}`;
  });
  if (notStartable === undefined) return { plan, kept, problems };
  return { plan, kept, problems, notStartable: notStartable.map(({ located }) => hostLine(located)) };
}

/** Its words are ours, and name a program only where that can be no more than a name. */
function hostLine(located: LocatedProblem): string {
  const { message, hint = "" } = located.problem;
  return `${formatPlace(located)}: ${located.identity}: ${message}${hint === "" ? "" : ` (${hint})`}`;
}

function cancel(supervisor: Supervisor, identity: string, periodAt: EpochMs | null): Promise<number> {
  return periodAt === null ? supervisor.cancel(identity) : supervisor.cancel(identity, formatInstant(periodAt));
}

async function runNow({ supervisor, store }: ControlPorts, identity: string, ifIdle: boolean): Promise<unknown> {
  await mustExist(store, identity);
  const started = await supervisor.runNow(identity, ifIdle);
  if (started.ok) return started;
  if (started.isBusy === true) throw await runningAlready(supervisor, identity);
  throw new ControlRefusal("refused", started.message);
}

/** Refused by the supervisor, which alone can tell; what runs is looked up only to be named, and may be over by now. */
async function runningAlready(supervisor: Supervisor, identity: string): Promise<ControlRefusal> {
  const [row] = await supervisor.list({ identities: [identity] });
  const busy = row?.active[0];
  const what = busy?.holder === undefined ? `PID ${busy?.pid}` : `a ${busy.holder}`;
  const message = `${identity} is running already${busy === undefined ? "" : `: ${what}, since ${busy.startedAt}`}`;
  return new ControlRefusal("refused", message, "run it without --if-idle to start another one beside it");
}

async function mustExist(store: StateStore, identity: string): Promise<void> {
  const version = await store.newestVersion(identity);
  if (version === undefined || version.text === null) throw noJob(identity);
}

function done(isDone: boolean, identity: string): null {
  if (!isDone) throw noJob(identity);
  return null;
}

function found<T>(value: T | null, identity: string): T {
  if (value === null) throw noJob(identity);
  return value;
}

function noJob(identity: string): ControlRefusal {
  return new ControlRefusal("not-found", `no job "${identity}"`);
}
