/**
 * Files of variables, as systemd, Docker and shells write them: `NAME=value` a line. A value may stand in quotes, and then
 * go over several lines; in single ones everything stands for itself, in double ones `\n`, `\t`, `\"`, `\\`, `` \` `` and
 * `\$` are understood. Nothing is ever expanded. What is wrong is told by its line and never in words of the file: values
 * are secrets.
 */
import { err, ok, type Result } from "../base/result.js";

interface EnvFileProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A name and what follows its `=`; `export` is for files that shells read too. */
const ASSIGNMENT = /[ \t]*(?:export[ \t]+)?([^\s=#]+)[ \t]*=[ \t]*/y;
const IGNORED = /[ \t]*(?:[#;][^\n]*)?(?:\n|$)/y;
const SINGLE = /'([^']*)'/y;
const DOUBLE = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"/y;
/** To the end of the line, or to a comment that stands apart. */
const PLAIN = /([^\n#]*(?:(?<=\S)#[^\n#]*)*)/y;
const AFTER_QUOTES = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  '"': '"',
  "\\": "\\",
  $: "$",
  "`": "`",
  "\n": "",
};

/** The last one of a name counts. */
export function parseEnvFile(text: string): Result<Readonly<Record<string, string>>, EnvFileProblem> {
  const reader = new EnvFileReader(text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n"));
  const problem = reader.read();
  return problem === null ? ok(Object.fromEntries(reader.variables)) : err(problem);
}

/** null: it can be the name of a variable, and not one of ours. */
export function envNameProblem(name: string): string | null {
  if (!ENV_NAME.test(name)) return "expected a name of letters, digits and _, not beginning with a digit";
  return name.startsWith("KRON_") ? "names that begin with KRON_ are set by Kron itself" : null;
}

class EnvFileReader {
  readonly variables = new Map<string, string>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): EnvFileProblem | null {
    while (this.#at < this.#text.length) {
      const start = this.#at;
      if (this.#take(IGNORED) !== null) continue;
      const message = this.#assignment();
      if (message !== null) return { line: this.#text.slice(0, start).split("\n").length, message };
    }
    return null;
  }

  #assignment(): string | null {
    const name = this.#take(ASSIGNMENT)?.[1];
    if (name === undefined) return "expected NAME=value";
    const wrong = envNameProblem(name);
    if (wrong !== null) return wrong;
    const value = this.#value();
    if (value === null) return "a quote is not closed, or something follows it";
    if (value.includes("\0")) return "a value holds a NUL character";
    this.variables.set(name, value);
    return null;
  }

  #value(): string | null {
    const sign = this.#text[this.#at];
    if (sign !== "'" && sign !== '"') {
      const plain = this.#take(PLAIN)?.[1] ?? "";
      this.#take(AFTER_QUOTES);
      return plain.trim();
    }
    const quoted = this.#take(sign === "'" ? SINGLE : DOUBLE)?.[1];
    if (quoted === undefined || this.#take(AFTER_QUOTES) === null) return null;
    return sign === "'" ? quoted : quoted.replace(/\\([\s\S])/g, (both, char: string) => ESCAPES[char] ?? both);
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }
}
