/**
 * `@notify(mail=ops@example.org,late=26h)`: one rule of who is told, as often on a line as there are rules. What a list is
 * elsewhere has its elements joined by `;` here, a command is split as any command of a line is.
 */
import type { Problem } from "../../base/problem.js";
import { splitWords, type Word } from "../../base/words.js";
import { didYouMean } from "../../job/suggest.js";
import type { Stretch } from "../located.js";
import { type Origin, originStretch } from "./origin.js";
import type { LinePart, LineProblem, NamedPart } from "./text.js";

const NOTIFY_EXAMPLE = "@notify(mail=ops@example.org,late=26h)";

type Path = readonly string[];

/** Where in a rule the value of a name stands. */
const PATHS: Readonly<Record<string, Path>> = {
  command: ["command"],
  mail: ["mail"],
  webhook: ["webhook", "url"],
  on: ["on"],
  late: ["late"],
  after: ["after"],
  repeat: ["repeat"],
  format: ["format"],
  method: ["webhook", "method"],
  timeout: ["webhook", "timeout"],
  success: ["webhook", "success"],
  secret_file: ["webhook", "signature", "secret_file"],
  secret_env: ["webhook", "signature", "secret_env"],
  ca_file: ["webhook", "ca_file"],
  client_cert_file: ["webhook", "client_cert_file"],
  client_key_file: ["webhook", "client_key_file"],
};

interface NotifyRuleText {
  readonly raw: Readonly<Record<string, unknown>>;
  /** By the path within the rule. */
  readonly origins: readonly (readonly [path: readonly string[], origin: Origin])[];
  readonly problems: readonly LineProblem[];
}

export function notifyRule(
  modifier: NamedPart,
  elements: readonly (LinePart | NamedPart)[],
  line: string,
): NotifyRuleText {
  const rule = new RuleBuilder(line);
  for (const element of elements) rule.take(element);
  if (elements.length === 0) rule.refuse("file-syntax", "an argument is missing", modifier.value, EXAMPLE_HINT);
  return rule;
}

const EXAMPLE_HINT = `write it like ${NOTIFY_EXAMPLE}`;

class RuleBuilder implements NotifyRuleText {
  readonly raw: Record<string, unknown> = {};
  readonly origins: [Path, Origin][] = [];
  readonly problems: LineProblem[] = [];
  readonly #line: string;
  readonly #seen = new Set<string>();

  constructor(line: string) {
    this.#line = line;
  }

  take(element: LinePart | NamedPart): void {
    if (!("value" in element)) {
      const message = element.text === "" ? "an argument is missing" : "expected name=value";
      this.refuse("file-syntax", message, element, EXAMPLE_HINT);
      return;
    }
    const { name, nameStart, value } = element;
    const stretch = { start: nameStart, end: nameStart + name.length };
    const path = Object.hasOwn(PATHS, name) ? PATHS[name] : undefined;
    if (path === undefined) {
      const known = Object.keys(PATHS);
      const hint = didYouMean(name, known) ?? `known: ${known.join(" ")}`;
      this.refuse("field-unknown", `unknown name ${name} in @notify`, stretch, hint);
    } else if (this.#seen.has(name)) {
      this.refuse("field-duplicate", `${name} is written twice`, stretch);
    } else if (value.text === "" && value.style === "plain") {
      this.refuse("file-syntax", "an argument is missing", value, EXAMPLE_HINT);
    } else {
      this.#seen.add(name);
      this.#read(name, path, value, stretch);
    }
  }

  refuse(code: Problem["code"], message: string, { start, end }: Stretch, hint?: string): void {
    const problem: Problem = { code, message, path: [], ...(hint === undefined ? {} : { hint }) };
    this.problems.push({ problem, start, end: Math.max(end, start + 1) });
  }

  #read(name: string, path: Path, part: LinePart, stretch: Stretch): void {
    const origin: Origin = { part, name: stretch };
    if (name === "command") this.#readCommand(path, origin);
    else if (name === "on") this.#setWords(path, origin, piecesOf(part.text));
    else this.#set(path, namedValue(name, part.text), origin);
  }

  #readCommand(path: Path, origin: Origin): void {
    const words = splitWords(origin.part.text);
    if (words.ok) this.#setWords(path, origin, words.value);
    else this.problems.push({ problem: words.error, ...originStretch(origin, words.error.span, this.#line) });
  }

  #setWords(path: Path, origin: Origin, words: readonly Word[]): void {
    this.#set(
      path,
      words.map(({ text }) => text),
      { ...origin, words },
    );
  }

  #set(path: Path, value: unknown, origin: Origin): void {
    let group = this.raw;
    for (const [depth, key] of path.slice(0, -1).entries()) {
      const inner = (group[key] ?? {}) as Record<string, unknown>;
      if (group[key] === undefined) this.origins.push([path.slice(0, depth + 1), origin]);
      group[key] = inner;
      group = inner;
    }
    group[path.at(-1) ?? ""] = value;
    this.origins.push([path, origin]);
  }
}

/** What is no text elsewhere; where it cannot be read, it is refused as the text that it is. */
function namedValue(name: string, text: string): unknown {
  if (name === "repeat" && /^(?:true|false)$/.test(text)) return text === "true";
  return name === "after" && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** `failure;late`: blanks around a word do not count. */
function piecesOf(text: string): readonly Word[] {
  let start = 0;
  return text.split(";").map((piece) => {
    const from = start + piece.length - piece.trimStart().length;
    const word = piece.trim();
    start += piece.length + 1;
    return { text: word, start: from, end: from + word.length };
  });
}
