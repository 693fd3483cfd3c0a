/** Commands whose first word says what is to be done, as in `kron job list`: their help, and who takes which options. */
import { nearest } from "../core/job/suggest.js";
import type { OptionSpec, ParsedArgs } from "./args.js";
import type { CommandSpec, VerbSpec } from "./command.js";
import { usageError } from "./exit.js";
import type { CliIo } from "./io.js";

export interface VerbsSpec<Verb extends string> {
  readonly name: string;
  readonly summary: string;
  readonly details: string;
  readonly examples: string;
  readonly options: readonly OptionSpec[];
  readonly verbs: Readonly<Record<Verb, VerbSpec>>;
}

export function commandOfVerbs<Verb extends string>(spec: VerbsSpec<Verb>): CommandSpec {
  const { name, summary, details, examples, options, verbs } = spec;
  const entries = Object.entries<VerbSpec>(verbs);
  const terms = entries.map(([verb, { takes }]) => `${verb} ${takes}`.trim());
  const width = Math.max(...terms.map((term) => term.length));
  const list = entries.map(([, { summary: what }], index) => `  ${(terms[index] ?? "").padEnd(width)}  ${what}`);
  return {
    name,
    summary,
    usage: terms.join(" | "),
    details: `\n${details.trim()}\n\n${list.join("\n")}\n\n${examples.trim().replace(/^/gm, "  ")}`,
    options: [...options, ...optionsOfVerbs(entries)],
    verbs: { common: options, specs: verbs },
  };
}

/** Each once, and for which verbs it is: one name may mean something of its own with another verb. */
function optionsOfVerbs(verbs: readonly (readonly [verb: string, spec: VerbSpec])[]): readonly OptionSpec[] {
  const found = new Map<string, { readonly option: OptionSpec; readonly helps: Map<string, string[]> }>();
  for (const [verb, { options }] of verbs) {
    for (const option of options) {
      const known = found.get(option.name) ?? { option, helps: new Map<string, string[]>() };
      known.helps.set(option.help, [...(known.helps.get(option.help) ?? []), verb]);
      found.set(option.name, known);
    }
  }
  return [...found.values()].map(({ option, helps }) => {
    const help = [...helps].map(([text, of]) => (of.length === verbs.length ? text : `${of.join(", ")}: ${text}`));
    return { ...option, help: help.join("; ") };
  });
}

/** `rest`: the words behind the verb. */
export type VerbRun = (rest: readonly string[], args: ParsedArgs, io: CliIo) => Promise<number>;

export async function runVerb<Verb extends string>(
  spec: VerbsSpec<Verb>,
  runs: Readonly<Record<Verb, VerbRun>>,
  args: ParsedArgs,
  io: CliIo,
): Promise<number> {
  const [word, ...rest] = args.positionals;
  const names = Object.keys(spec.verbs) as Verb[];
  const verb = names.find((known) => known === word);
  if (verb === undefined) throw unknownVerb(spec.name, word, names);
  const own = new Set(spec.verbs[verb].options.map(({ name }) => name));
  const others = Object.entries<VerbSpec>(spec.verbs).flatMap(([other, { options }]) =>
    options.map(({ name }) => ({ other, name })),
  );
  const stray = others.find(({ name }) => !own.has(name) && isGiven(args, name));
  if (stray !== undefined) {
    const whose = others.filter(({ name }) => name === stray.name).map(({ other }) => other);
    throw usageError(`--${stray.name} is not for 'kron ${spec.name} ${verb}'`, `it is for ${whose.join(", ")}`);
  }
  return runs[verb](rest, args, io);
}

function isGiven(args: ParsedArgs, name: string): boolean {
  return args.has(name) || args.all(name).length > 0;
}

function unknownVerb(command: string, word: string | undefined, verbs: readonly string[]): Error {
  const all = `one of ${verbs.join(", ")}`;
  if (word === undefined) return usageError(`${command} needs to be told what to do`, all);
  const near = nearest(word, verbs);
  const hint = near === undefined ? all : `did you mean 'kron ${command} ${near}'?`;
  return usageError(`${command}: "${word}" is nothing it can do`, hint);
}

/** The one word that a verb takes. */
export function only(rest: readonly string[], usage: string): string {
  const [word, ...more] = rest;
  if (word === undefined || more.length > 0) throw usageError(`write: kron ${usage}`);
  return word;
}
