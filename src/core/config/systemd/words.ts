/** Words as systemd splits them: quotes of both kinds, escapes as in C, wherever they stand. */
import { err, ok, type Result } from "../../base/result.js";

export interface Word {
  readonly text: string;
  /** Something of it stood in quotes or was escaped: it is no operator. */
  readonly isQuoted: boolean;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
  s: " ",
  ";": ";",
};
const CODE = /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{3}))/y;
const HIGHEST_CODE = 0x10ffff;

/** The words of a line, or what is wrong with it. */
export function splitWords(line: string): Result<readonly Word[], string> {
  const words: Word[] = [];
  let text: string | null = null;
  let isQuoted = false;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    if (char === "\\") {
      const escaped = readEscape(line, at);
      if (escaped === null) return err(`${line.slice(at, at + 2)} is no escape: a backslash is written \\\\`);
      text = (text ?? "") + escaped.text;
      isQuoted = true;
      at = escaped.last;
    } else if (quote !== "" ? char === quote : (char === '"' || char === "'") && text === null) {
      quote = quote === "" ? char : "";
      text ??= "";
      isQuoted = true;
    } else if (quote === "" && /\s/.test(char)) {
      if (text !== null) words.push({ text, isQuoted });
      text = null;
      isQuoted = false;
    } else {
      text = (text ?? "") + char;
    }
  }
  if (quote !== "") return err(`a ${quote} is missing at its end`);
  if (text !== null) words.push({ text, isQuoted });
  return ok(words);
}

function readEscape(line: string, at: number): { readonly text: string; readonly last: number } | null {
  const plain = ESCAPES[line[at + 1] ?? ""];
  if (plain !== undefined) return { text: plain, last: at + 1 };
  CODE.lastIndex = at;
  const found = CODE.exec(line);
  const digits = found?.[1] ?? found?.[2] ?? found?.[3];
  const code = digits === undefined ? Number.parseInt(found?.[4] ?? "x", 8) : Number.parseInt(digits, 16);
  if (found === null || Number.isNaN(code) || code === 0 || code > HIGHEST_CODE) return null;
  return { text: String.fromCodePoint(code), last: at + found[0].length - 1 };
}
