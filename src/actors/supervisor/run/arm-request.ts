/** What a runner is asked for: one attempt of one definition. The environment of a process starts empty. */
import { join } from "node:path";
import type { HttpSettings } from "../../../core/config/settings.js";
import type { HttpTarget, JobDefinition, ProcessTarget } from "../../../core/job/definition.js";
import { isPeriod } from "../../../core/period/occasion.js";
import { stateFileName } from "../../../core/state/file-name.js";
import { formatInstant } from "../../../core/time/instant.js";
import type { AttemptParams } from "../../../machines/effects.js";
import type { RequestArm } from "../../dispatcher/port.js";
import type { OutputPlan, ProcessArm, RunOutput } from "../../launcher/port.js";
import type { ArmRequest } from "../../runner/port.js";

/** S34: what programs expect; Node raises its own. */
const OPEN_FILES = 1024;

export interface RunPlace {
  readonly outputDirectory: string;
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly killGraceMs: number;
  readonly http: HttpSettings;
}

function outputPlan(
  definition: JobDefinition,
  target: ProcessTarget,
  attempt: AttemptParams,
  place: RunPlace,
): OutputPlan {
  const { to, maxBytes, keep, onExcess } = target.output;
  if (to === "syslog") return { to, tag: definition.identity };
  if (to !== "file" && to !== "log") return { to };
  const told = { identity: definition.identity, periodId: attempt.periodId };
  return {
    to: "file",
    directory: outputDirectoryOf(place.outputDirectory, definition.identity),
    name: outputNameOf(attempt),
    maxBytes,
    keep,
    onExcess,
    killGraceMs: place.killGraceMs,
    ...(to === "log" ? { told } : {}),
  };
}

/** The hash keeps any identity apart from any other, and from the file system's rules. */
export function outputDirectoryOf(root: string, identity: string): string {
  return join(root, stateFileName(identity).replace(/\.json$/, ""));
}

/** Sorts in the order of the runs. */
export function outputNameOf({ periodId, source, attemptId }: Omit<AttemptParams, "slotAt" | "chosenAt">): string {
  return `${periodId.replaceAll(":", "")}${isPeriod(source) ? "" : `.${source}`}.${attemptId}.log`;
}

function environmentOf(
  definition: JobDefinition,
  target: ProcessTarget,
  attempt: AttemptParams,
  baseEnv: RunPlace["baseEnv"],
): Record<string, string> {
  return {
    ...baseEnv,
    TZ: posixZone(definition.timezone),
    ...target.env,
    KRON_IDENTITY: definition.identity,
    KRON_PERIOD_ID: periodOfRun(attempt),
    KRON_NOMINAL_TIME: periodOfRun(attempt),
    KRON_CHOSEN_TIME: formatInstant(attempt.chosenAt),
    KRON_ATTEMPT_ID: attempt.attemptId,
    ...(attempt.retry === undefined ? {} : { KRON_ATTEMPT: String(attempt.retry.attempt) }),
  };
}

/** S43: a further attempt is one of the same period, for the program and for whoever receives a request. */
function periodOfRun({ periodId, retry }: AttemptParams): string {
  return retry?.periodId ?? periodId;
}

/** The zone that the job is scheduled in. In TZ the sign of a fixed offset is turned round. */
function posixZone(timezone: string): string {
  if (!/^[+-]/.test(timezone)) return timezone;
  return `<${timezone.replace(":", "")}>${timezone.startsWith("+") ? "-" : "+"}${timezone.slice(1)}`;
}

export function armRequestOf(definition: JobDefinition, attempt: AttemptParams, place: RunPlace): ArmRequest {
  const { target } = definition;
  return target.kind === "http"
    ? requestOf(definition, target, attempt, place)
    : processArmOf(definition, target, attempt, place);
}

function requestOf(
  { identity }: JobDefinition,
  target: HttpTarget,
  attempt: AttemptParams,
  { http: settings }: RunPlace,
): RequestArm {
  const { attemptId, chosenAt } = attempt;
  const periodId = periodOfRun(attempt);
  const scheduledFor = formatInstant(chosenAt);
  return { kind: "request", attemptId, identity, periodId, scheduledFor, target, settings };
}

export function processArmOf(
  definition: JobDefinition,
  target: ProcessTarget,
  attempt: AttemptParams,
  place: RunPlace,
): ProcessArm {
  const [text = ""] = target.argv;
  return {
    kind: "process",
    attemptId: attempt.attemptId,
    command: target.shell ? { kind: "shell", text } : { kind: "argv", argv: target.argv },
    user: target.user,
    group: target.group,
    cwd: target.cwd,
    umask: target.umask,
    env: environmentOf(definition, target, attempt, place.baseEnv),
    ...(target.envSources === undefined ? {} : { envSources: { ...target.envSources, kept: Object.keys(target.env) } }),
    accountEnv: true,
    openFiles: OPEN_FILES,
    stdin: target.stdin,
    output: outputPlan(definition, target, attempt, place),
  };
}

/** S29: where the output of a run that was started earlier goes, so that its cap holds again; null when it has none. */
export function adoptedOutput(definition: JobDefinition, attempt: AttemptParams, place: RunPlace): RunOutput | null {
  if (definition.target.kind !== "process") return null;
  const plan = outputPlan(definition, definition.target, attempt, place);
  return plan.to === "file" ? { path: join(plan.directory, plan.name), plan } : null;
}
