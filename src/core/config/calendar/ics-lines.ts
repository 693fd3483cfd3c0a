/** The lines of an iCalendar file: folded ones put together, cut into name, parameters and value. */
import type { ErrorCode } from "../../base/errors/registry.js";
import { LIMITS } from "../../base/limits.js";

export interface IcsLine {
  /** One-based, where it begins in the file. */
  readonly number: number;
  /** Upper case, as the names of parameters. */
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
}

export type Refuse = (line: number, message: string, hint: string, code?: ErrorCode) => void;

export function* icsLines(text: string, refuse: Refuse): Generator<IcsLine> {
  for (const { number, text: line } of unfolded(text)) {
    if (line.trim() === "") continue;
    const read = readLine(number, line);
    if (read === null)
      refuse(number, "this is no line of an iCalendar file", "a line is NAME:value or NAME;PARAMETER=x:value");
    else yield read;
  }
}

interface Unfolded {
  readonly number: number;
  readonly text: string;
}

/** A line that begins with a blank goes on with the one before. */
function* unfolded(text: string): Generator<Unfolded> {
  let parts: string[] = [];
  let first = 1;
  let number = 0;
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/)) {
    number += 1;
    if (parts.length > 0 && /^[ \t]/.test(line)) {
      parts.push(line.slice(1));
      continue;
    }
    if (parts.length > 0) yield { number: first, text: parts.join("") };
    [parts, first] = [[line], number];
  }
  yield { number: first, text: parts.join("") };
}

const NAME = /^[A-Za-z0-9-]+/;
/** A parameter's value may stand in quotes, and then have colons and semicolons in it. */
const PARAMETER = /;([A-Za-z0-9-]+)=((?:"[^"]*"|[^";:])*)/y;

function readLine(number: number, text: string): IcsLine | null {
  const name = NAME.exec(text)?.[0];
  if (name === undefined) return null;
  const parameters = new Map<string, string>();
  let at = name.length;
  while (text[at] === ";" && parameters.size < LIMITS.lineParts) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(text);
    if (match === null) return null;
    parameters.set((match[1] ?? "").toUpperCase(), (match[2] ?? "").replaceAll('"', ""));
    at = PARAMETER.lastIndex;
  }
  return text[at] === ":" ? { number, name: name.toUpperCase(), parameters, value: text.slice(at + 1).trim() } : null;
}
