import { systemClock } from "../../actors/clock.js";
import { messageOf } from "../../core/base/errors/message.js";
import { TenantBudget } from "../../planner/budget.js";
import { readBaseUrl } from "../../planner/chat/base-url.js";
import { ChatPlanner } from "../../planner/chat/chat-planner.js";
import { createTransport } from "../../planner/chat/transport.js";
import { PLANNER_LIMITS } from "../../planner/limits.js";
import type { Situation } from "../../planner/model.js";
import { RULES_PLANNER, ruleRows } from "../../planner/rules.js";
import { type Session, sessionFields } from "../../planner/session.js";
import { readSituation } from "../../planner/situation.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { published } from "../endpoints/published.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import { plural } from "../format.js";
import type { CliIo } from "../io.js";
import { printReport, printValue } from "../output.js";
import { CHAT_ONLY, isOfEndpoint, sessions, tryEndpoint } from "../planner-daemon.js";
import { keyRef } from "../planner-options.js";
import { sessionText } from "../planner-text.js";
import { readTextFile } from "../text-file.js";
import { DEFAULT_TOKENS } from "./specs/planner.js";

const MOST_TOKENS = 999_999_999;

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [verb, ...rest] = args.positionals;
  if (verb === "rules" && rest.length === 0) return printRules(args, io);
  const [only, ...more] = rest;
  if (verb === "sessions" && more.length === 0) return sessions(only, args, io);
  if (verb !== "try" || only === undefined || more.length > 0) {
    throw usageError(
      "planner takes 'try FILE', 'try ENDPOINT', 'sessions' or 'rules'",
      "kron planner try situation.json",
    );
  }
  return isOfEndpoint(only, io) ? tryEndpoint(only, args, io) : tryFile(only, args, io);
}

async function tryFile(file: string, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  outputForm(args);
  const ask = askerOf(args, io);
  const situation = await situationIn(file, io);
  const session = await ask(situation);
  await printValue(published(sessionFields(session)), () => sessionText(session, situation), args, io);
  return EXIT.ok;
}

type Ask = (situation: Situation) => Promise<Session>;

function askerOf(args: ParsedArgs, io: CliIo): Ask {
  const { signal } = new AbortController();
  const tokens = countArg(args, "tokens", DEFAULT_TOKENS, MOST_TOKENS);
  const budget = new TenantBudget({ plannerCallsPerDay: null, plannerTokensPerDay: tokens });
  const chat = args.text("chat");
  if (chat === undefined) {
    const idle = CHAT_ONLY.find((name) => args.text(name) !== undefined);
    if (idle !== undefined || args.has("allow-private")) {
      throw usageError(`--${idle ?? "allow-private"} is about a model: say where it is with --chat URL`);
    }
    return (situation) => RULES_PLANNER.propose(situation, { signal, budget });
  }
  const key = keyRef(args, io, { env: "key-env", file: "key-file" });
  const baseUrl = readBaseUrl(chat, key !== null);
  if (!baseUrl.ok) throw usageError(`--chat: ${baseUrl.error}`);
  const model = args.text("model");
  if (model === undefined) throw usageError("--chat needs --model NAME");
  const allowPrivate = args.has("allow-private");
  return async (situation) => {
    const clock = systemClock;
    const transport = createTransport({ baseUrl: baseUrl.value, key, env: io.env, clock, allowPrivate });
    const planner = new ChatPlanner({ transport, model, clock, random: Math.random });
    try {
      return await planner.propose(situation, { signal, budget });
    } finally {
      await transport.close();
    }
  };
}

async function situationIn(name: string, io: CliIo): Promise<Situation> {
  const { text } = await readTextFile(name, PLANNER_LIMITS.situationBytes, io);
  const shown = name === "-" ? "standard input" : name;
  const read = readSituation(jsonIn(text, shown), io.now());
  if (read.ok) return read.value;
  for (const { path, message, hint } of read.error) {
    const place = path.length === 0 ? "" : `${path.join(".")}: `;
    await io.err(`kron: ${shown}: ${place}${message}${hint === undefined ? "" : ` (${hint})`}\n`);
  }
  const hint = "docs/planner.md says what a situation holds";
  throw new CliError(EXIT.configuration, `${plural(read.error.length, "problem")} in ${shown}`, hint);
}

function jsonIn(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(EXIT.configuration, `${name}: not JSON: ${messageOf(error)}`);
  }
}

async function printRules(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = outputForm(args);
  const rows = ruleRows();
  if (form !== "text") await printReport(form, rows, rows, io);
  else for (const { rule, when, effect } of rows) await io.out(`${rule}\n  when  ${when}\n  then  ${effect}\n`);
  return EXIT.ok;
}
