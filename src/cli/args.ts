import { parseArgs } from "node:util";
import { messageOf } from "../core/base/errors/message.js";
import { nearest } from "../core/job/suggest.js";
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
  /** What its value may be, where that is a word of a few. */
  readonly words?: readonly string[];
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
  value: "WHEN",
  help: "use this instant as now: 2026-03-01T00:00:00Z, 09:00, fri 18:00, 2h ...",
};

export const TZ_OPTION: OptionSpec = {
  name: "tz",
  value: "ZONE",
  help: "zone of times that name none, such as 09:00 (default: yours)",
};

export const ON_THIS_HOST_OPTION: OptionSpec = {
  name: "on-this-host",
  help: "also tell which jobs this machine could not start: program, user, group, directory, files; and who could not be told",
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
  const given = withValues(specs, withBareValues(specs, argv));
  const wrong = unknownOption(specs, given);
  if (wrong !== null) throw wrong;
  try {
    const { values, positionals } = parseArgs({ args: given, options, allowPositionals: true, strict: true });
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

/** The option that a word of the command line names, however it is spelled. */
export function specOf(specs: readonly OptionSpec[], arg: string): OptionSpec | undefined {
  return specs.find(({ name, short }) => arg === `--${name}` || (short !== undefined && arg === `-${short}`));
}

/**
 * A negative number or a time that has passed (`-n -1`, `--since -2h`) is a value, not an option. Whatever else looks like
 * an option behind one that needs a value means that the value was forgotten.
 */
function withValues(specs: readonly OptionSpec[], argv: readonly string[]): string[] {
  const written: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const arg = argv[index] ?? "";
    if (arg === "--") return [...written, ...argv.slice(index)];
    const spec = specOf(specs, arg);
    const next = argv[index + 1];
    written.push(arg);
    if (spec?.value === undefined) continue;
    if (next === undefined) throw usageError(`${arg} needs a value: ${spec.value}`, spec.help);
    index += 1;
    if (/^-\d/.test(next)) written[written.length - 1] = `--${spec.name}=${next}`;
    else if (next.length > 1 && next.startsWith("-"))
      throw usageError(`${arg} needs a value: ${spec.value}`, spec.help);
    else written.push(next);
  }
  return written;
}

/** Said here rather than by the parser, to add what may have been meant. */
function unknownOption(specs: readonly OptionSpec[], argv: readonly string[]): Error | null {
  const end = argv.indexOf("--");
  const names = specs.map(({ name }) => name);
  for (const arg of end < 0 ? argv : argv.slice(0, end)) {
    const [, name] = /^--([^=]+)/.exec(arg) ?? [];
    if (name === undefined || names.includes(name)) continue;
    const near = nearest(name, names);
    const hint = near === undefined ? "--help lists them" : `did you mean --${near}?`;
    return usageError(`unknown option "--${name}"`, hint);
  }
  return null;
}

function firstSentence(error: unknown): string {
  const message = messageOf(error);
  return (message.split(/\. |\n/)[0] ?? message).replace(/\.$/, "");
}

export type OutputForm = "text" | "json" | "jsonl";

export function outputForm(args: ParsedArgs): OutputForm {
  const form = args.text("output") ?? "text";
  if (form === "text" || form === "json" || form === "jsonl") return form;
  throw usageError(`unknown output form "${form}"`, "use -o text, -o json or -o jsonl");
}

export function countArg(args: ParsedArgs, name: string, fallback: number, most: number, least = 1): number {
  const text = args.text(name);
  if (text === undefined) return fallback;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw usageError(`--${name}: "${text}" is not a whole number from ${least} to ${most}`);
}
