/** Reads who is told of what becomes of a job. Whether a program is there or an address may be reached is judged when it is. */
import { LIMITS } from "../base/limits.js";
import { type Problem, problemAt } from "../base/problem.js";
import type { NotifyOccasion, NotifyRule, NotifyTarget } from "./definition.js";
import { readHttp } from "./http-reader.js";
import { quote } from "./issues.js";
import { readTimeout } from "./reading.js";
import type { RawJob } from "./shape.js";
import { checkPassable } from "./target-reader.js";

type RawNotify = NonNullable<RawJob["notify"]>;
type RawRule = RawNotify[number];
type Path = readonly (string | number)[];

const NOBODY: readonly NotifyRule[] = Object.freeze([]);
const USUAL: readonly NotifyOccasion[] = ["failure", "missed", "recovered"];
const TARGETS = ["command", "webhook", "mail"] as const;
/** What stands in a header line as it is, and is no option of a program. */
const ADDRESS = /^[^\s,;:<>()[\]\\"\p{C}-][^\s,;:<>()[\]\\"\p{C}]*$/u;

export function readNotify(raw: RawNotify | undefined, problems: Problem[]): readonly NotifyRule[] {
  if (raw === undefined || raw.length === 0) return NOBODY;
  if (raw.length > LIMITS.notifyRules) {
    const message = `${raw.length} rules, more than the limit of ${LIMITS.notifyRules}`;
    problems.push({ code: "limit-exceeded", message, path: ["notify"] });
    return NOBODY;
  }
  return Object.freeze(raw.flatMap((rule, index) => readRule(rule, ["notify", index], problems) ?? []));
}

function readRule(raw: RawRule, path: Path, problems: Problem[]): NotifyRule | null {
  const target = readTarget(raw, path, problems);
  const lateMs =
    raw.late === undefined
      ? null
      : within(path, problems, (own) => readTimeout(raw.late ?? "", ["late"], LIMITS.timeoutMs, own));
  const said = raw.on ?? (lateMs === null ? USUAL : [...USUAL, "late" as const]);
  const on = lateMs === null || said.includes("late") ? said : [...said, "late" as const];
  if (on.length === 0) problems.push(range([...path, "on"], "nothing would ever be told"));
  if (on.includes("late") && lateMs === null) {
    const hint = "write late: 26h, how long there may be no success";
    problems.push({ code: "field-missing", message: 'missing field "late"', path: [...path, "late"], hint });
  }
  return target === null
    ? null
    : Object.freeze({
        on: Object.freeze([...new Set(on)]),
        repeat: raw.repeat === true,
        lateMs,
        ...(raw.after === undefined || raw.after === 1 ? {} : { after: raw.after }),
        target,
      });
}

function readTarget(raw: RawRule, path: Path, problems: Problem[]): NotifyTarget | null {
  const named = TARGETS.filter((name) => raw[name] !== undefined);
  if (named.length !== 1) {
    const message =
      named.length === 0 ? "nobody is told: nothing to tell it with" : `${named.join(" and ")} in one rule`;
    problems.push({
      code: "field-conflict",
      message,
      path,
      hint: "write one of command, webhook, mail; other rules for others",
    });
    return null;
  }
  if (raw.format !== undefined && raw.webhook === undefined) {
    problems.push({ code: "field-conflict", message: "format is for a webhook", path: [...path, "format"] });
  }
  if (raw.command !== undefined) return readCommand(raw.command, [...path, "command"], problems);
  if (raw.mail !== undefined) return readMail(raw.mail, [...path, "mail"], problems);
  return raw.webhook === undefined ? null : readWebhook(raw, raw.webhook, path, problems);
}

function readCommand(argv: readonly string[], path: Path, problems: Problem[]): NotifyTarget {
  if (argv.length === 0 || argv[0]?.trim() === "") problems.push(range(path, "the command is empty"));
  for (const [index, argument] of argv.entries()) {
    const problem = checkPassable(argument, "an argument");
    if (problem !== null) problems.push(problemAt(problem, ...path, index));
  }
  return Object.freeze({ kind: "command", argv: Object.freeze([...argv]) });
}

function readMail(mail: string | readonly string[], path: Path, problems: Problem[]): NotifyTarget {
  const to = typeof mail === "string" ? mail.split(",").map((address) => address.trim()) : mail;
  if (to.length === 0 || to.length > LIMITS.mailAddresses) {
    problems.push(range(path, `a mail goes to 1 to ${LIMITS.mailAddresses} addresses`));
  }
  for (const address of to.slice(0, LIMITS.mailAddresses)) {
    if (!ADDRESS.test(address)) problems.push(range(path, `${quote(address)} is not a mail address`));
  }
  return Object.freeze({ kind: "mail", to: Object.freeze([...to]) });
}

function readWebhook(
  raw: RawRule,
  webhook: NonNullable<RawRule["webhook"]>,
  path: Path,
  problems: Problem[],
): NotifyTarget {
  const { method = "POST" } = webhook;
  if (method === "GET" || method === "HEAD") {
    problems.push(
      range([...path, "webhook", "method"], `a ${method} request has no body, and the message is its body`),
    );
  }
  const own: Problem[] = [];
  // Nothing of an answer is kept.
  const http = readHttp({ ...webhook, method, excerpt: "0B" }, own);
  for (const problem of own) problems.push({ ...problem, path: [...path, "webhook", ...problem.path.slice(1)] });
  return Object.freeze({ kind: "webhook", http, format: raw.format ?? "kron" });
}

function within<T>(path: Path, problems: Problem[], read: (own: Problem[]) => T): T {
  const own: Problem[] = [];
  const value = read(own);
  problems.push(...own.map((problem) => problemAt(problem, ...path)));
  return value;
}

function range(path: Path, message: string): Problem {
  return { code: "field-range", message, path };
}
