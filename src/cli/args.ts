import { parseArgs } from "node:util";
import { parseInstant } from "../core/time/instant.js";
import { usageError } from "./exit.js";

/**
 * Options of a command as a table: it drives the parsing, the help text and the shell completion, so that the three
 * cannot disagree.
 */
export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in the help; absent for a switch. */
  readonly value?: string;
  /** The value it has when it is given without one. */
  readonly bare?: string;
  /** May be given several times. */
  readonly repeats?: true;
  readonly help: string;
}

export interface ParsedArgs {
  readonly positionals: readonly string[];
  text(name: string): string | undefined;
  /** Of an option that may be given several times: all values, in order. */
  all(name: string): readonly string[];
  has(name: string): boolean;
}

export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: "output", short: "o", value: "text|json|jsonl", help: "form of the output (default: text)" },
  { name: "no-color", help: "never use colours" },
  { name: "help", short: "h", help: "show this help" },
];

export const CONFIG_OPTION: OptionSpec = {
  name: "config",
  short: "c",
  value: "PATH",
  help: "job file or directory (default: $KRON_CONFIG, /etc/krond.d, $XDG_CONFIG_HOME/krond)",
};

/** For the commands that look at jobs without running them. */
export const CRONTAB_OPTION: OptionSpec = {
  name: "crontab",
  value: "FILE",
  repeats: true,
  help: "the jobs of a crontab, as krond would run them; may be given again",
};

export const AT_OPTION: OptionSpec = {
  name: "at",
  value: "INSTANT",
  help: "use this RFC 3339 instant as now",
};

export function parseCommandArgs(specs: readonly OptionSpec[], argv: readonly string[]): ParsedArgs {
  const options = Object.fromEntries(
    specs.map((spec) => [
      spec.name,
      {
        type: spec.value === undefined ? ("boolean" as const) : ("string" as const),
        ...(spec.short === undefined ? {} : { short: spec.short }),
        ...(spec.repeats === true ? { multiple: true } : {}),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: withBareValues(specs, argv),
      options,
      allowPositionals: true,
      strict: true,
    });
    return {
      positionals,
      text: (name) => (typeof values[name] === "string" ? values[name] : undefined),
      all: (name) => [values[name] ?? []].flat().filter((value) => typeof value === "string"),
      has: (name) => values[name] === true,
    };
  } catch (error) {
    throw usageError(firstSentence(error));
  }
}

/** Node's parser knows no optional values: they are written out before it sees them. */
function withBareValues(specs: readonly OptionSpec[], argv: readonly string[]): string[] {
  return argv.map((arg, index) => {
    const bare = specs.find(({ name }) => arg === `--${name}`)?.bare;
    const next = argv[index + 1];
    return bare !== undefined && (next === undefined || next.startsWith("-")) ? `${arg}=${bare}` : arg;
  });
}

function firstSentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split(/\. |\n/)[0] ?? message).replace(/\.$/, "");
}

export type OutputForm = "text" | "json" | "jsonl";

export function outputForm(args: ParsedArgs): OutputForm {
  const form = args.text("output") ?? "text";
  if (form === "text" || form === "json" || form === "jsonl") return form;
  throw usageError(`unknown output form "${form}"`, "use -o text, -o json or -o jsonl");
}

export function instantArg(args: ParsedArgs, name: string): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (instant.ok) return instant.value;
  throw usageError(`--${name}: ${instant.error.message}`, instant.error.hint ?? "write it like 2026-03-01T00:00:00Z");
}

export function countArg(args: ParsedArgs, name: string, fallback: number, most: number): number {
  const text = args.text(name);
  if (text === undefined) return fallback;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= most) return count;
  throw usageError(`--${name}: "${text}" is not a whole number from 1 to ${most}`);
}
