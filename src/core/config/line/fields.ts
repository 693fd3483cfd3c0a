/** From the parts of a line to the raw definition that they spell, keeping where each value of it is written. */

import { LIMITS } from "../../base/limits.js";
import type { Problem } from "../../base/problem.js";
import { splitWords, type Word } from "../../base/words.js";
import { didYouMean } from "../../job/suggest.js";
import type { Stretch } from "../located.js";
import { notifyRule } from "./notify.js";
import { type Origin, originKey, originStretch, typedText } from "./origin.js";
import type { LinePart, LineParts, LineProblem, LineScanner, NamedPart } from "./text.js";

export interface LineDefinition {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly origins: ReadonlyMap<string, Origin>;
  readonly problems: readonly LineProblem[];
}

type Path = readonly string[];
type EnvironmentField = "env" | "env_credentials";

const FIELD_PATHS: Readonly<Record<string, Path>> = {
  name: ["identity"],
  command: ["command"],
  user: ["user"],
  group: ["group"],
  cwd: ["cwd"],
  env: ["env"],
  env_file: ["env_file"],
  pass_env: ["pass_env"],
  env_credentials: ["env_credentials"],
  shell: ["shell"],
  umask: ["umask"],
  timeout: ["timeout"],
  node: ["node"],
  pool: ["pool"],
  min_interval: ["min_interval"],
  max_interval: ["max_interval"],
  stdout: ["output", "to"],
  stderr: ["output", "to"],
  description: ["description"],
};

/** Modifiers with named arguments, and what an unnamed first argument means. */
const LIST_MODIFIERS: Readonly<Record<string, { readonly group: string; readonly unnamed: readonly string[] }>> = {
  win: { group: "window", unnamed: ["mode", "duration"] },
  dist: { group: "distribution", unnamed: ["name"] },
  seed: { group: "seed", unnamed: ["strategy"] },
  policy: { group: "policy", unnamed: [] },
  retry: { group: "retry", unnamed: ["limit", "backoff", "max_backoff"] },
  stop: { group: "stop", unnamed: ["after_failures", "after_runs", "at"] },
  dst: { group: "dst", unnamed: [] },
  http: { group: "http", unnamed: ["method", "url"] },
};
/** `@every(90s)` and `@at(2026-12-01T03:00)` stand in the place of the cron fields. */
const TEXT_MODIFIERS: Readonly<Record<string, Path>> = {
  every: ["every"],
  at: ["at"],
  tz: ["timezone"],
  only: ["constraints", "only"],
  avoid: ["constraints", "avoid"],
};
/** The only one that may stand on a line more than once. */
const NOTIFY = "notify";
const MODIFIER_NAMES = [...Object.keys(TEXT_MODIFIERS), ...Object.keys(LIST_MODIFIERS), NOTIFY];

/** How a modifier is written, for hints. */
const EXAMPLES: Readonly<Record<string, string>> = {
  every: "@every(90s)",
  at: "@at(2026-12-01T03:00)",
  tz: "@tz(Europe/Berlin)",
  only: "@only(dow=MON-FRI;hours=9-17)",
  avoid: "@avoid(dates=2026-12-24..2026-12-31)",
  win: "@win(after,1h)",
  dist: "@dist(skewEarly,shape=2)",
  seed: "@seed(daily,salt=x)",
  policy: "@policy(concurrency=forbid,deadline=30m)",
  retry: "@retry(3,30s,10m,on=75;timeout)",
  stop: "@stop(after_failures=5)",
  dst: "@dst(gap=next,overlap=first)",
  http: "@http(POST,https://example.org/hook,timeout=10s)",
};

export function lineDefinition(parts: LineParts, scanner: LineScanner, line: string): LineDefinition {
  return new LineBuilder(parts, scanner, line).build();
}

class LineBuilder {
  readonly #parts: LineParts;
  readonly #scanner: LineScanner;
  readonly #line: string;
  readonly #raw: Record<string, unknown> = {};
  readonly #origins = new Map<string, Origin>();
  readonly #problems: LineProblem[] = [];

  constructor(parts: LineParts, scanner: LineScanner, line: string) {
    this.#parts = parts;
    this.#scanner = scanner;
    this.#line = line;
  }

  build(): LineDefinition {
    const { schedule, modifiers, fields } = this.#parts;
    if (schedule !== null) this.#set(["schedule"], schedule.text, { part: schedule });
    for (const modifier of this.#unrepeated(modifiers, "@")) this.#readModifier(modifier);
    for (const field of this.#unrepeated(fields, "")) this.#readField(field);
    this.#splitCommand();
    return { raw: this.#raw, origins: this.#origins, problems: [...this.#scanner.problems, ...this.#problems] };
  }

  #unrepeated(parts: readonly NamedPart[], sign: string): readonly NamedPart[] {
    const seen = new Set<string>();
    return parts.filter((part) => {
      if (!seen.has(part.name) || (sign === "@" && part.name === NOTIFY)) return seen.add(part.name);
      this.#refuse("field-duplicate", `${sign}${part.name} is written twice`, nameStretch(part, sign));
      return false;
    });
  }

  #readModifier(modifier: NamedPart): void {
    const { name } = modifier;
    const path = Object.hasOwn(TEXT_MODIFIERS, name) ? TEXT_MODIFIERS[name] : undefined;
    const list = Object.hasOwn(LIST_MODIFIERS, name) ? LIST_MODIFIERS[name] : undefined;
    if (path !== undefined) this.#readText(path, modifier);
    else if (list !== undefined) this.#readList(list, modifier);
    else if (name === NOTIFY) this.#readNotify(modifier);
    else this.#refuseName("modifier", modifier, "@", MODIFIER_NAMES);
  }

  /** The argument as it stands, or as it stands between quotes. */
  #readText(path: Path, modifier: NamedPart): void {
    const { value } = modifier;
    const isQuoted = value.text.trimStart().startsWith('"');
    const [first, second] = isQuoted ? this.#scanner.readList(value) : [value];
    if (first === undefined || "value" in first) return;
    const part = trimmedPart(first);
    if (part.text === "") this.#refuseElement(modifier, part);
    else if (second !== undefined) this.#refuse("file-syntax", "expected one argument", value);
    else this.#set(path, part.text, { part });
  }

  #readNotify(modifier: NamedPart): void {
    const rules = (this.#raw[NOTIFY] ?? []) as unknown[];
    const at = [NOTIFY, String(rules.length)];
    const { raw, origins, problems } = notifyRule(modifier, this.#scanner.readList(modifier.value), this.#line);
    this.#problems.push(...problems);
    // What is wrong with it is said: that nothing is left of it needs no second word.
    if (problems.length > 0) return;
    if (rules.length === 0) this.#origins.set(NOTIFY, { part: modifier.value, name: nameStretch(modifier, "@") });
    this.#raw[NOTIFY] = [...rules, raw];
    this.#origins.set(originKey(at), { part: modifier.value, name: nameStretch(modifier, "@") });
    for (const [path, origin] of origins) this.#origins.set(originKey([...at, ...path]), origin);
  }

  #readList({ group, unnamed }: { group: string; unnamed: readonly string[] }, modifier: NamedPart): void {
    const elements = this.#scanner.readList(modifier.value);
    const seen = new Set<string>();
    for (const [index, element] of elements.entries()) {
      const isNamed = "value" in element;
      const key = isNamed ? element.name : unnamed[index];
      const part = isNamed ? element.value : element;
      if (key === undefined || (part.text === "" && part.style === "plain")) this.#refuseElement(modifier, part);
      else if (seen.has(key)) this.#refuse("field-duplicate", `${key} is written twice`, part);
      else this.#set([group, key], typedText([group, key], part.text), originOf(element, part));
      if (key !== undefined) seen.add(key);
    }
    if (modifier.name === "win" && !(seen.has("mode") && seen.has("duration")) && elements.length > 0) {
      this.#refuse("file-syntax", "a window has a mode and a duration", modifier.value, "write @win(after,1h)");
    }
  }

  #refuseElement(modifier: NamedPart, part: LinePart): void {
    const message = part.text === "" ? "an argument is missing" : "expected name=value";
    this.#refuse("file-syntax", message, part, `write it like ${EXAMPLES[modifier.name]}`);
  }

  #readField(field: NamedPart): void {
    const path = Object.hasOwn(FIELD_PATHS, field.name) ? FIELD_PATHS[field.name] : undefined;
    if (path === undefined) {
      this.#refuseName("field", field, "", Object.keys(FIELD_PATHS));
      return;
    }
    if (field.name === "env" || field.name === "env_credentials") this.#readEnvironment(field.name, field.value);
    else if (field.name === "env_file" || field.name === "pass_env") this.#readWords(field.name, field.value);
    else if (field.name === "stderr" && this.#differsFromStdout(field)) this.#refuseOutputs(field);
    else this.#set(path, typedText(path, field.value.text), { part: field.value, name: nameStretch(field, "") });
  }

  #differsFromStdout(stderr: NamedPart): boolean {
    const stdout = this.#parts.fields.find(({ name }) => name === "stdout");
    return stdout !== undefined && stdout.value.text !== stderr.value.text;
  }

  #refuseOutputs(stderr: NamedPart): void {
    const message = "stdout and stderr go to one place";
    this.#refuse("field-conflict", message, stderr.value, "write one of them, or the same in both");
  }

  /** `env="A=1 B='x y'"`: words as in a command, each one NAME=value. */
  #readEnvironment(field: EnvironmentField, part: LinePart): void {
    if (this.#isTooLong("the environment", part.text, LIMITS.environmentBytes, part)) return;
    const words = splitWords(part.text);
    if (!words.ok) {
      this.#refuseIn({ part }, words.error);
      return;
    }
    const env: Record<string, string> = {};
    for (const word of words.value) {
      if (this.#problems.length < LIMITS.problemsPerJob) this.#readVariable(field, word, part, env);
    }
    this.#set([field], env, { part });
  }

  /** `pass_env="HOME PATH"`: words as in a command. */
  #readWords(field: string, part: LinePart): void {
    if (this.#isTooLong("the list", part.text, LIMITS.environmentBytes, part)) return;
    const words = splitWords(part.text);
    if (!words.ok) {
      this.#refuseIn({ part }, words.error);
      return;
    }
    this.#set(
      [field],
      words.value.map((word) => word.text),
      { part, words: words.value },
    );
  }

  #readVariable(field: EnvironmentField, word: Word, part: LinePart, env: Record<string, string>): void {
    const origin: Origin = { part, word };
    const equals = word.text.indexOf("=");
    const name = word.text.slice(0, equals);
    if (equals <= 0) this.#refuseIn(origin, lineProblem("environment-name", "expected NAME=value"));
    else if (name === "__proto__") this.#refuseIn(origin, lineProblem("environment-name", "not a name for a variable"));
    else if (Object.hasOwn(env, name))
      this.#refuseIn(origin, lineProblem("field-duplicate", `${name} is written twice`));
    else {
      env[name] = word.text.slice(equals + 1);
      this.#origins.set(originKey([field, name]), origin);
    }
  }

  /** Last, because `shell=true` may stand behind the command. */
  #splitCommand(): void {
    const origin = this.#origins.get("command");
    const text = this.#raw["command"];
    if (origin === undefined || typeof text !== "string" || this.#raw["shell"] === true) return;
    if (this.#isTooLong("the command", text, LIMITS.argvBytes, origin.part)) {
      delete this.#raw["command"];
      return;
    }
    const words = splitWords(text);
    if (!words.ok) {
      this.#raw["command"] = [text];
      this.#refuseIn(origin, words.error);
      return;
    }
    this.#raw["command"] = words.value.map((word) => word.text);
    this.#origins.set("command", { ...origin, words: words.value });
  }

  #isTooLong(what: string, text: string, limit: number, part: LinePart): boolean {
    if (text.length <= limit) return false;
    this.#refuse("limit-exceeded", `${what} has ${text.length} characters, more than the limit of ${limit}`, part);
    return true;
  }

  #set([first, second]: Path, value: unknown, origin: Origin): void {
    if (first === undefined) return;
    if (second === undefined) {
      this.#raw[first] = value;
      this.#origins.set(first, origin);
    } else if (second === "__proto__") {
      this.#refuse("field-unknown", 'a field cannot be named "__proto__"', origin.part);
    } else {
      this.#groupOf(first, origin)[second] = value;
      this.#origins.set(originKey([first, second]), origin);
    }
  }

  #groupOf(name: string, origin: Origin): Record<string, unknown> {
    const known = this.#raw[name];
    if (known !== undefined) return known as Record<string, unknown>;
    const group: Record<string, unknown> = {};
    this.#raw[name] = group;
    this.#origins.set(name, origin);
    return group;
  }

  #refuseName(what: string, part: NamedPart, sign: string, known: readonly string[]): void {
    const signed = known.map((name) => sign + name);
    const hint = didYouMean(sign + part.name, signed) ?? `known: ${signed.join(" ")}`;
    this.#refuse("field-unknown", `unknown ${what} ${sign}${part.name}`, nameStretch(part, sign), hint);
  }

  #refuseIn(origin: Origin, problem: Problem): void {
    this.#problems.push({ problem, ...originStretch(origin, problem.span, this.#line) });
  }

  #refuse(code: Problem["code"], message: string, { start, end }: Stretch, hint?: string): void {
    const problem: Problem = { ...lineProblem(code, message), ...(hint === undefined ? {} : { hint }) };
    this.#problems.push({ problem, start, end: Math.max(end, start + 1) });
  }
}

function lineProblem(code: Problem["code"], message: string): Problem {
  return { code, message, path: [] };
}

function nameStretch({ name, nameStart }: NamedPart, sign: string): Stretch {
  return { start: nameStart, end: nameStart + sign.length + name.length };
}

function originOf(element: LinePart | NamedPart, part: LinePart): Origin {
  return "value" in element ? { part, name: nameStretch(element, "") } : { part };
}

function trimmedPart(part: LinePart): LinePart {
  if (part.style !== "plain") return part;
  const start = part.start + part.text.length - part.text.trimStart().length;
  return { ...part, text: part.text.trim(), start };
}
