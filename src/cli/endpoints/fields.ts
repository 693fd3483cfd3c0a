/** What the options of a command say of an endpoint, as the fields that they stand for. */
import type { Fields } from "../../core/base/fields.js";
import { LIMITS } from "../../core/base/limits.js";
import type { Problem } from "../../core/base/problem.js";
import type { Result } from "../../core/base/result.js";
import type { EndpointSpec } from "../../core/endpoint/spec.js";
import { parseSize } from "../../core/job/size.js";
import { formatSecond } from "../../core/time/instant.js";
import { parseSpan } from "../../core/time/span.js";
import type { EndpointAnswer } from "../../operations/endpoints/shapes.js";
import { countArg, type ParsedArgs } from "../args.js";
import { DEFAULT_BACKOFF } from "../commands/specs/endpoint-fields.js";
import { usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { readTextFile } from "../text-file.js";

type Field = keyof EndpointSpec;

const NONE = "none";
const KIB = 1024;

type Reader = (text: string, option: string) => unknown;

const asText: Reader = (text) => text;
const asWords: Reader = (text) => text.split(",").filter((word) => word !== "");
const asSpan: Reader = (text, option) => readAs(option, parseSpan(text));
const asKib: Reader = (text, option) => Math.ceil(readAs(option, parseSize(text)) / KIB);
const orNone = (read: Reader): Reader => {
  return (text, option) => (text === NONE ? null : read(text, option));
};

/** How each field is said on the command line, and read where its option says it alone; null: in a file alone. */
export const OPTION_OF = {
  name: ["name", asText],
  description: ["description", asText],
  tags: ["tag", asWords],
  url: ["url", asText],
  method: ["method", asText],
  headers: ["header"],
  secretHeaders: ["secret-header"],
  body: ["body"],
  baselineCron: ["cron"],
  baselineIntervalMs: ["every"],
  timezone: ["timezone", asText],
  windowMs: ["window", asSpan],
  windowMode: ["window-mode", asText],
  minIntervalMs: ["min-interval", orNone(asSpan)],
  maxIntervalMs: ["max-interval", orNone(asSpan)],
  timeoutMs: ["timeout", asSpan],
  maxExecutionTimeMs: null,
  maxResponseSizeKb: ["max-response", asKib],
  by: ["by", asText],
  successStatuses: ["success", asWords],
  successBody: ["success-contains"],
  deadlineMs: ["deadline", orNone(asSpan)],
  retry: ["retries"],
  autoPause: ["auto-pause"],
  maxRuns: ["max-runs"],
  endAt: ["end-at"],
  planner: ["planner", orNone(asText)],
  fasterOnErrors: null,
  notify: ["notify"],
} as const satisfies Readonly<Record<Field, readonly [option: string, read?: Reader] | null>>;

export const FIELD_NAMES = Object.keys(OPTION_OF) as readonly Field[];

const OF_JOB = "job";
const MOST_RETRIES = 1_000;
const BODY_BYTES = 16 * 1024 * 1024;
const SECRET_BYTES = 64 * 1024;

/** `before`: what is changed; headers that it has already are kept beside those that are given. */
export async function fieldsOf(args: ParsedArgs, io: CliIo, before: EndpointAnswer | null): Promise<Fields> {
  return {
    ...plainFields(args),
    ...baselineFields(args),
    ...headerField(args, before),
    ...(await secretField(args, io, before)),
    ...(await bodyField(args, io)),
    ...retryField(args, before),
    ...bodyRuleField(args),
    ...(await stopFields(args, io)),
    ...(await notifyField(args, io)),
  };
}

function plainFields(args: ParsedArgs): Fields {
  const said = FIELD_NAMES.flatMap((field) => {
    const [option = "", read] = OPTION_OF[field] ?? [];
    const text = args.text(option);
    return text === undefined || read === undefined ? [] : [[field, read(text, option)] as const];
  });
  return Object.fromEntries(said);
}

/** One takes the place of the other. */
function baselineFields(args: ParsedArgs): Fields {
  const [cron, every] = [args.text("cron"), args.text("every")];
  if (cron !== undefined && every !== undefined) throw usageError("--cron and --every: an endpoint has one of them");
  if (cron !== undefined) return { baselineCron: cron, baselineIntervalMs: null };
  if (every === undefined) return {};
  return { baselineCron: null, baselineIntervalMs: readAs("every", parseSpan(every)) };
}

function headerField(args: ParsedArgs, before: EndpointAnswer | null): Fields {
  const given = args.all("header");
  if (given.length === 0) return {};
  const headers = new Map(Object.entries(before?.headers ?? {}));
  for (const text of given) {
    const [, name, value = ""] = /^\s*([^:]+?)\s*:\s*(.*?)\s*$/s.exec(text) ?? [];
    if (name === undefined) throw usageError(`--header: "${text}" is no header`, "write 'Accept: text/plain'");
    setOrTake(headers, name, value === "" ? null : value);
  }
  return { headers: Object.fromEntries(headers) };
}

/** A value never stands on the command line, where everybody can read it. */
async function secretField(args: ParsedArgs, io: CliIo, before: EndpointAnswer | null): Promise<Fields> {
  const given = args.all("secret-header");
  if (given.length === 0) return {};
  // Of those that stay null says so: nobody knows their values.
  const headers = new Map<string, string | null>((before?.secretHeaders ?? []).map((name) => [name, null]));
  for (const text of given) {
    const [, name, from = ""] = /^\s*([^=:\s]+)\s*=(.*)$/s.exec(text) ?? [];
    if (name === undefined) {
      throw usageError("--secret-header: it is a name and where its value is", "write Authorization=env:API_TOKEN");
    }
    setOrTake(headers, name, from === "" ? null : await secretFrom(name, from, io));
  }
  return { secretHeaders: Object.fromEntries(headers) };
}

/** Headers are the same in any case. */
function setOrTake(headers: Map<string, string | null>, name: string, value: string | null): void {
  for (const known of [...headers.keys()]) if (known.toLowerCase() === name.toLowerCase()) headers.delete(known);
  if (value !== null) headers.set(name, value);
}

async function secretFrom(name: string, from: string, io: CliIo): Promise<string> {
  const [, kind, place = ""] = /^(env|file):(.+)$/s.exec(from) ?? [];
  const option = name.startsWith("--") ? name : "--secret-header";
  if (kind === "file") return (await readTextFile(place, SECRET_BYTES, io)).text.replace(/\r?\n$/, "");
  if (kind !== "env") {
    const join = name.startsWith("--") ? " " : "=";
    const hint = `write ${name}${join}env:API_TOKEN or ${name}${join}file:token.txt`;
    throw usageError(`${option}: a value is not written on a command line, which others can see`, hint);
  }
  const value = io.env[place];
  if (value === undefined || value === "") throw usageError(`${option}: $${place} is not set`);
  return value;
}

async function bodyField(args: ParsedArgs, io: CliIo): Promise<Fields> {
  const [body, file] = [args.text("body"), args.text("body-file")];
  if (body !== undefined && file !== undefined)
    throw usageError("--body and --body-file say the same: give one of them");
  if (file !== undefined) return { body: (await readTextFile(file, BODY_BYTES, io)).text };
  return body === undefined ? {} : { body: body === "" ? null : body };
}

function retryField(args: ParsedArgs, before: EndpointAnswer | null): Fields {
  const [retries, backoff] = [args.text("retries"), args.text("backoff")];
  if (retries === undefined && backoff === undefined) return {};
  const known = before?.retry ?? null;
  const limit = countArg(args, "retries", known?.limit ?? 0, MOST_RETRIES, 0);
  if (limit === 0 && backoff !== undefined)
    throw usageError("--backoff is between retries: say how many with --retries");
  if (limit === 0) return { retry: null };
  const backoffMs = backoff === undefined ? known?.backoffMs : readAs("backoff", parseSpan(backoff));
  return { retry: { limit, backoffMs: backoffMs ?? readAs("backoff", parseSpan(DEFAULT_BACKOFF)) } };
}

/** What stands behind the first `=` is JSON where it is some, and a text otherwise. */
function bodyRuleField(args: ParsedArgs): Fields {
  const [contains, json] = [args.text("success-contains"), args.text("success-json")];
  if (contains !== undefined && json !== undefined) {
    throw usageError("--success-contains and --success-json: an endpoint has one of them");
  }
  if (contains !== undefined) return { successBody: contains === NONE ? null : { contains } };
  if (json === undefined) return {};
  if (json === NONE) return { successBody: null };
  const cut = json.indexOf("=");
  if (cut < 0) throw usageError("--success-json: it is a pointer and a value", "write /status=ok");
  return { successBody: { pointer: json.slice(0, cut), equals: scalarOf(json.slice(cut + 1)) } };
}

function scalarOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? text : value;
  } catch {
    return text;
  }
}

async function stopFields(args: ParsedArgs, io: CliIo): Promise<Fields> {
  const failures = countOrNone(args, "auto-pause", LIMITS.stopAfterFailures);
  const runs = countOrNone(args, "max-runs", LIMITS.stopAfterRuns);
  const endAt = args.text("end-at") === NONE ? null : await endOf(args, io);
  return {
    ...(failures === undefined ? {} : { autoPause: failures === null ? null : { afterFailures: failures } }),
    ...(runs === undefined ? {} : { maxRuns: runs }),
    ...(endAt === undefined ? {} : { endAt }),
  };
}

async function endOf(args: ParsedArgs, io: CliIo): Promise<string | undefined> {
  if (args.text("end-at") === undefined) return undefined;
  const { momentArg } = await import("../moments.js");
  const at = await momentArg(args, "end-at", io);
  return at === undefined ? undefined : formatSecond(at);
}

/** All addresses that are given are told the same; whoever wants it otherwise writes a file. */
export async function notifyField(args: ParsedArgs, io: CliIo): Promise<Fields> {
  const [given, secret] = [args.all("notify"), args.text("notify-secret")];
  const isAbout = secret !== undefined || args.text("notify-after") !== undefined;
  if (given.length === 0 && isAbout) throw usageError("--notify-after and --notify-secret are about --notify URL");
  if (given.length === 0) return {};
  if (given.length === 1 && given[0] === NONE) return { notify: [] };
  if (given.length === 1 && given[0] === OF_JOB) return { notify: null };
  const afterFailures = countArg(args, "notify-after", 1, LIMITS.stopAfterFailures, 1);
  const signing = secret === undefined ? {} : { signingSecret: await secretFrom("--notify-secret", secret, io) };
  return { notify: given.map((url) => ({ url, afterFailures, ...signing })) };
}

function countOrNone(args: ParsedArgs, option: string, most: number): number | null | undefined {
  const text = args.text(option);
  if (text === undefined) return undefined;
  return text === NONE ? null : countArg(args, option, 1, most, 1);
}

function readAs(option: string, read: Result<number, Problem>): number {
  if (read.ok) return read.value;
  throw usageError(`--${option}: ${read.error.message}`, read.error.hint);
}

/** What is wrong with a field that an option has said, as the option. */
export function refusedOption(problem: Problem): Error {
  const [field, ...rest] = problem.path;
  const [name = "name"] = OPTION_OF[field as Field] ?? [];
  // That of an endpoint that is made stands alone.
  const option = name === "name" ? String(field ?? "") : `--${name}`;
  const inner = rest.length === 0 ? "" : `${rest.join(".")}: `;
  const isBackoff = field === "retry" && rest[0] === "backoffMs";
  return usageError(`${isBackoff ? "--backoff" : option}: ${isBackoff ? "" : inner}${problem.message}`, problem.hint);
}
