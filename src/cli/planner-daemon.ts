/** Planners of a daemon that runs: what one would propose for an endpoint, and what they have proposed. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { plainText } from "../core/base/plain-text.js";
import { ENDPOINT_ID } from "../core/endpoint/endpoint-name.js";
import { formatSecond, knownInstant } from "../core/time/instant.js";
import type { SessionDetail, SessionRow, TriedAnswer } from "../operations/planner/shapes.js";
import { decodeSession, SESSION_KINDS, type Session, sessionFields } from "../planner/session.js";
import { readSituation } from "../planner/situation.js";
import { countArg, outputForm, type ParsedArgs } from "./args.js";
import { withDaemon } from "./daemon.js";
import { Names } from "./endpoints/names.js";
import { published } from "./endpoints/published.js";
import { withTenant } from "./endpoints/tenant.js";
import { CliError, EXIT, type ExitCode, usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { oneOf } from "./listen-address.js";
import { printValue } from "./output.js";
import { proposalText, sessionText } from "./planner-text.js";

/** Options of a model that somebody names by hand. */
export const CHAT_ONLY = ["model", "key-env", "key-file", "tokens"] as const;

const ROWS = 20;
const MOST_ROWS = 100;
const SESSION_ID = /^ps_/;
const FILES = ".json";
const NAMED = /^[^./].*\/./;

/** An id, or JOB/NAME where no file is called so; a file is always meant by `./`, and by its ending. */
export function isOfEndpoint(text: string, io: CliIo): boolean {
  const isFile = text.endsWith(FILES) || statSync(resolve(io.cwd, text), { throwIfNoEntry: false })?.isFile() === true;
  return ENDPOINT_ID.test(text) || (NAMED.test(text) && !isFile);
}

/** By its id, or as JOB/NAME. */
async function endpointIdOf(written: string, args: ParsedArgs, io: CliIo): Promise<string> {
  if (ENDPOINT_ID.test(written)) return written;
  return withTenant(args, io, async (ask) => (await new Names(ask).endpoint(written, undefined)).endpoint.id);
}

export async function tryEndpoint(written: string, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  outputForm(args);
  const stray = ["chat", ...CHAT_ONLY].find((name) => args.text(name) !== undefined);
  if (stray !== undefined) throw usageError(`--${stray}: the daemon has a model of its own, or none`);
  const planner = oneOf(args, "planner", SESSION_KINDS) ?? null;
  const endpointId = await endpointIdOf(written, args, io);
  const tried = await asked<TriedAnswer>({ op: "planner.try", endpointId, planner }, args, io);
  const session = sessionOf(tried.session);
  const situation = readSituation(tried.inputs, io.now());
  if (!situation.ok) throw unreadable();
  await printValue(published(sessionFields(session)), () => sessionText(session, situation.value), args, io);
  return EXIT.ok;
}

export async function sessions(of: string | undefined, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (of !== undefined && SESSION_ID.test(of)) return oneSession(of, args, io);
  if (of !== undefined && !ENDPOINT_ID.test(of) && !NAMED.test(of))
    throw usageError(`"${of}" is neither an endpoint nor a session's id`);
  const form = outputForm(args);
  const limit = countArg(args, "limit", ROWS, MOST_ROWS);
  const about = of === undefined ? {} : { endpointId: await endpointIdOf(of, args, io) };
  const request = { op: "planner.sessions", cursor: null, limit, ...about } as const;
  const { rows } = await asked<{ readonly rows: readonly SessionRow[] }>(request, args, io);
  if (form !== "text") await printValue(rows.map(published), () => "", args, io);
  else for (const row of rows) await io.out(`${linesOf(row).join("\n")}\n`);
  if (form === "text" && rows.length === 0) await io.err("no session of a planner is on record\n");
  return EXIT.ok;
}

async function oneSession(sessionId: string, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  outputForm(args);
  const detail = await asked<SessionDetail>({ op: "planner.session", sessionId }, args, io);
  const text = (): string => `${[...linesOf(detail), ...callLines(detail)].join("\n")}\n`;
  await printValue(published(detail), text, args, io);
  return EXIT.ok;
}

type Asked = Parameters<Parameters<Parameters<typeof withDaemon>[2]>[0]["ask"]>[0];

async function asked<T>(request: Asked, args: ParsedArgs, io: CliIo): Promise<T> {
  const tenant = args.text("tenant");
  return withDaemon(args, io, async (client) => (await client.ask(request, null, tenant)) as T);
}

function sessionOf(told: SessionRow["session"]): Session {
  const session = decodeSession(JSON.stringify(told));
  if (session === null) throw unreadable();
  return session;
}

function unreadable(): CliError {
  return new CliError(EXIT.fatal, "the daemon's answer cannot be read", "is it of the same version?");
}

function linesOf({ id, by, session: told, fates }: SessionRow): string[] {
  const { endpoint, startedAt, outcome, proposals } = sessionOf(told);
  const first = `${formatSecond(startedAt)}  ${id}  ${endpoint}  ${by}: ${outcome.code}: ${plainText(outcome.message)}`;
  const became = proposals.map((proposal, at) => {
    const { result, message } = fates[at] ?? { result: "pending", message: "" };
    return `  ${proposalText(proposal)}: ${result}${message === "" ? "" : `: ${plainText(message)}`}`;
  });
  return [first, ...became];
}

function callLines({ session }: SessionRow): string[] {
  const next = `  looked at again from ${formatSecond(knownInstant(session.nextAnalysisAt))} on`;
  return [...session.calls.map(({ name, result, message }) => `  ${name}: ${result}: ${plainText(message)}`), next];
}
