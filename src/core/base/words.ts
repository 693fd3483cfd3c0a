/**
 * Splits a command text into arguments. The whole rule: words are separated by blanks; between single or between double
 * quotes everything stands for itself, blanks included; a backslash has no meaning; nothing is ever expanded. Quoted and
 * bare parts that touch form one word, so `''` is an empty argument.
 */
import type { Problem } from "./problem.js";
import { err, ok, type Result } from "./result.js";

export interface Word {
  readonly text: string;
  /** Where the word begins and ends in the command text, quotes included. */
  readonly start: number;
  readonly end: number;
}

export function splitWords(command: string): Result<readonly Word[], Problem> {
  const words: Word[] = [];
  let at = skipBlanks(command, 0);
  while (at < command.length) {
    const word = readWord(command, at);
    if (!word.ok) return word;
    words.push(word.value);
    at = skipBlanks(command, word.value.end);
  }
  return ok(words);
}

/** What ends a bare part of a word. */
const BARE_END = /[ \t"']/g;

function readWord(command: string, start: number): Result<Word, Problem> {
  let text = "";
  let at = start;
  while (at < command.length && !isBlank(command, at)) {
    const quote = command[at];
    if (quote !== '"' && quote !== "'") {
      BARE_END.lastIndex = at;
      const end = BARE_END.exec(command)?.index ?? command.length;
      text += command.slice(at, end);
      at = end;
      continue;
    }
    const close = command.indexOf(quote, at + 1);
    if (close < 0) return err(unclosed(quote, at));
    text += command.slice(at + 1, close);
    at = close + 1;
  }
  return ok({ text, start, end: at });
}

function skipBlanks(command: string, from: number): number {
  let at = from;
  while (at < command.length && isBlank(command, at)) at++;
  return at;
}

function isBlank(command: string, at: number): boolean {
  return command[at] === " " || command[at] === "\t";
}

function unclosed(quote: string, at: number): Problem {
  const kind = quote === '"' ? "double" : "single";
  return { code: "file-syntax", message: `a ${kind} quote is not closed`, path: [], span: { start: at, end: at + 1 } };
}
