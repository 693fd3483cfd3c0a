/** What is done to several endpoints at once: hold them, let them go on, run them now, take them out. */
import { KRON } from "../../core/governor/author.js";
import { formatInstant, formatSecond } from "../../core/time/instant.js";
import { ControlError } from "../../krond/control/client.js";
import type { EndpointAnswer, RunAnswer } from "../../operations/endpoints/shapes.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT, usageError } from "../exit.js";
import { nextLook } from "../follow.js";
import { plural } from "../format.js";
import { forEachOf, type GroupWords } from "../group.js";
import type { CliIo } from "../io.js";
import { printValue } from "../output.js";
import type { VerbRun } from "../verbs.js";
import { ifMatchOf } from "./if-match.js";
import { Names } from "./names.js";
import { publishedAs } from "./published.js";
import { selectionOf } from "./selection.js";
import { type Ask, withTenant } from "./tenant.js";
import { tookText } from "./texts.js";

/** In the words of `kron run --wait`. */
const EXIT_OF_RUN = { success: 0, failure: 1, timeout: 1, cancelled: 1, unknown: 70 } as const;

type Act = (
  ask: Ask,
  endpoint: EndpointAnswer,
  of: { readonly label: string; readonly isGroup: boolean },
) => Promise<unknown>;
type Words = Pick<GroupWords, "done" | "verb" | "tail" | "summary" | "isSilent">;

async function toEach(
  verb: string,
  words: Words,
  act: Act,
  { rest, args, io }: { readonly rest: readonly string[]; readonly args: ParsedArgs; readonly io: CliIo },
): Promise<number> {
  return withTenant(args, io, async (ask) => {
    const selection = await selectionOf(new Names(ask), rest, args, verb);
    if (selection.group.isGroup && args.text("if-match") !== undefined) {
      throw usageError("--if-match is about one endpoint");
    }
    const published = (label: string, value: unknown): unknown => publishedOf(label, value);
    const all = { ...words, published, noun: "endpoint" };
    const { isGroup } = selection.group;
    return forEachOf(
      selection.group,
      (label) => act(ask, selection.endpoint(label), { label, isGroup }),
      all,
      args,
      io,
    );
  });
}

function publishedOf(label: string, value: unknown): unknown {
  return value === null ? { endpoint: label, deleted: true } : publishedAs({ endpoint: label }, value as object);
}

export const pause: VerbRun = async (rest, args, io) => {
  const { momentArg, viewerZone, wallText } = await import("../moments.js");
  const untilAt = await momentArg(args, "until", io);
  if (untilAt === undefined)
    throw usageError("a pause needs an end", "--until 2h, --until tomorrow, --until 'fri 18:00'");
  if (untilAt <= io.now()) throw usageError("--until: the end of the pause lies in the past");
  const reason = args.text("reason");
  if (reason === undefined || reason === "") throw usageError("a pause needs a reason", '--reason "maintenance"');
  const zone = viewerZone(args, io);
  const wall = zone.id === "UTC" ? "" : ` (${wallText(untilAt, zone)})`;
  const tail = ` until ${formatSecond(untilAt)}${wall}`;
  const summary = (values: readonly unknown[]): string => {
    return `paused ${plural(values.filter((value) => !hasStopped(value)).length, "endpoint")}${tail}`;
  };
  const done = (label: string, value: unknown): string => {
    return hasStopped(value) ? `${label} has stopped by itself, and stays so\n` : `${label} is paused${tail}\n`;
  };
  const words = { verb: "paused", tail, done, summary };
  const pausedUntil = formatInstant(untilAt);
  // S51: it would begin anew when this pause is over. Whoever wants that says so of it by itself.
  const act: Act = async (ask, endpoint, { isGroup }) => {
    if (isGroup && hasStopped(endpoint)) return endpoint;
    return ask({ op: "endpoints.pause", endpointId: endpoint.id, pausedUntil, reason });
  };
  return toEach("pause", words, act, { rest, args, io });
};

function hasStopped(endpoint: unknown): boolean {
  return (endpoint as EndpointAnswer).pausedBy === KRON;
}

export const resume: VerbRun = (rest, args, io) => {
  const words = { verb: "resumed", done: (label: string) => `${label} goes on\n` };
  const act: Act = (ask, { id: endpointId }) => ask({ op: "endpoints.resume", endpointId });
  return toEach("resume", words, act, { rest, args, io });
};

export const remove: VerbRun = (rest, args, io) => {
  const words = { verb: "deleted", done: (label: string) => `${label} is deleted; its runs stay on record\n` };
  const act: Act = (ask, { id: endpointId }) => ask({ op: "endpoints.delete", endpointId, ...ifMatchOf(args) });
  return toEach("delete", words, act, { rest, args, io });
};

interface Started {
  readonly runId: string;
  readonly slot: string;
}

export const runNow: VerbRun = async (rest, args, io) => {
  const begun: { readonly label: string; readonly runId: string }[] = [];
  const words = {
    verb: "started",
    done: (label: string, value: unknown) => `started ${label}, slot ${(value as Started).slot}\n`,
  };
  const act: Act = async (ask, { id: endpointId }, { label }) => {
    const started = await ask<Started>({ op: "endpoints.run", endpointId, ifIdle: args.has("if-idle") });
    begun.push({ label, runId: started.runId });
    return started;
  };
  if (!args.has("wait") || args.has("dry-run")) return toEach("run", words, act, { rest, args, io });
  // What was started is told once it has ended: one answer to one command.
  const code = await toEach("run", { ...words, isSilent: true }, act, { rest, args, io });
  return withTenant(args, io, async (ask) => {
    const ended: { readonly label: string; readonly run: RunAnswer }[] = [];
    for (const { label, runId } of begun) ended.push({ label, run: await endOf(ask, runId) });
    const text = (): string => ended.map(({ label, run }) => `${label}: ${endText(run)}\n`).join("");
    const values = ended.map(({ label, run }) => publishedAs({ endpoint: label }, run));
    await printValue(values.length === 1 ? values[0] : values, text, args, io);
    const codes = ended.map(({ run }) => (run.status === "running" ? 0 : EXIT_OF_RUN[run.status]));
    return codes.find((one) => one !== EXIT.ok) ?? code;
  });
};

async function endOf(ask: Ask, runId: string): Promise<RunAnswer> {
  for (;;) {
    const run = await ask<RunAnswer>({ op: "runs.get", runId }).catch(notYet);
    if (run !== null && run.status !== "running") return run;
    await nextLook();
  }
}

/** What has begun is on record as soon as it has ended. The run goes on without the daemon, and without us. */
function notYet(error: unknown): null {
  if (!(error instanceof ControlError)) throw error;
  if (error.kind === "not-found") return null;
  if (error.kind !== "no-answer") throw error;
  throw new CliError(EXIT_OF_RUN.unknown, `${error.message} before the run had ended`, "'kron runs' will tell");
}

function endText({ status, httpStatus, durationMs, error }: RunAnswer): string {
  const answer = httpStatus === null ? "" : `, HTTP ${httpStatus}`;
  const took = durationMs === null ? "" : ` in ${tookText(durationMs)}`;
  return `${status}${answer}${took}${error === null ? "" : `: ${error.message}`}`;
}
