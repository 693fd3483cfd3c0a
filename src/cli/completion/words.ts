/** What can stand where on a command line, read from the tables that parse it: the two cannot disagree. */
import { COMMON_OPTIONS, type OptionSpec } from "../args.js";
import type { Command } from "../command.js";
import type { Program } from "../program.js";

/** What a value is: one of some words, a file, or something only its writer knows. */
export type ValueKind = { readonly words: readonly string[] } | "file" | "directory" | "free";

export interface CompletedOption {
  /** `--state`, `-s`. */
  readonly names: readonly string[];
  readonly help: string;
  /** null for a switch. */
  readonly value: ValueKind | null;
}

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** Words that may come first, such as `export` of `state`. */
  readonly words: readonly string[];
  readonly takes: "job" | "file" | "nothing";
}

export interface CompletedProgram {
  readonly name: string;
  readonly commands: readonly CompletedCommand[];
}

export function completedProgram({ name, commands }: Program): CompletedProgram {
  return { name, commands: commands.map(completedCommand) };
}

function completedCommand({ name, summary, usage, options }: Command): CompletedCommand {
  const own = new Set(options.map((option) => option.name));
  const all = [...options, ...COMMON_OPTIONS.filter((option) => !own.has(option.name))];
  return { name, summary, options: all.map(completedOption), words: wordsOf(usage), takes: argumentOf(usage) };
}

/** Where a usage has alternatives, most of them are about files. */
function argumentOf(usage: string): CompletedCommand["takes"] {
  if (/\bJOB\b/.test(usage) && !usage.includes("|")) return "job";
  return /\b(?:FILE|DIR)\b/.test(usage) ? "file" : "nothing";
}

/** `export DIR | check`, `crontab FILE...`, `bash|zsh|fish`: words in small letters are meant as they stand. */
function wordsOf(usage: string): readonly string[] {
  const places = usage.split(/\s*\|\s*/).map((place) => place.trim().split(/\s+/)[0] ?? "");
  return places.filter((word) => /^[a-z]+$/.test(word));
}

function completedOption({ name, short, value, words, help }: OptionSpec): CompletedOption {
  const names = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  if (words !== undefined) return { names, help, value: { words } };
  return { names, help, value: value === undefined ? null : kindOf(value) };
}

function kindOf(value: string): ValueKind {
  if (/^[a-z]+(?:\|[a-z]+)+$/.test(value)) return { words: value.split("|") };
  if (value === "DIR") return "directory";
  return value === "FILE" || value === "PATH" ? "file" : "free";
}
