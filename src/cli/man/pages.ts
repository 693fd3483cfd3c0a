/**
 * The manual, made of the tables that also drive parsing, help and completion: a page for each program and one for each of
 * its commands, in the macros of man(7). Pure: `scripts/build-man.mjs` writes them.
 */
import { COMMON_OPTIONS, type OptionSpec } from "../args.js";
import type { CommandSpec } from "../command.js";
import { KRON } from "../commands/index.js";
import { KROND } from "../commands/krond/index.js";
import { escaped, paragraphs } from "./roff.js";

interface ManPage {
  /** Such as `kron-next.1`. */
  readonly file: string;
  readonly text: string;
}

/** What there is to say of a program. */
interface Manual {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
  readonly commands: readonly CommandSpec[];
}

export function allPages(): readonly ManPage[] {
  return [KRON, KROND].flatMap((program) => [programPage(program), ...program.commands.map(pageOf(program))]);
}

const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ["0", "all is well"],
  ["1", "wrong usage, nothing found, no daemon"],
  ["2", "configuration invalid or not to be trusted; a limit of forecast or a rule of simulate is broken"],
  ["3", "state incompatible, damaged, unreadable, or open to others"],
  ["4", "another daemon holds the state directory"],
  ["5", "a write failed, or something inside went wrong"],
];

const FILES: readonly (readonly [file: string, meaning: string])[] = [
  ["/etc/krond.d, $XDG_CONFIG_HOME/krond", "job files, where neither --config nor KRON_CONFIG names others"],
  ["/var/lib/krond, $XDG_STATE_HOME/krond", "the state directory, where neither --state nor KRON_STATE names another"],
];

function programPage({ name, summary, version, commands }: Manual): ManPage {
  const text = [
    header(name, version),
    section("NAME", `${escaped(name)} \\- ${escaped(withoutName(summary, name))}`),
    section("SYNOPSIS", `.B ${escaped(name)}\n.I COMMAND\n.RI [ OPTIONS ]`),
    section(
      "COMMANDS",
      commands.map((it) => item(`\\fB${escaped(`${name}-${it.name}`)}\\fR(1)`, it.summary)).join("\n"),
    ),
    section("EXIT STATUS", EXIT_CODES.map(([code, meaning]) => item(`\\fB${code}\\fR`, meaning)).join("\n")),
    section("FILES", FILES.map(([file, meaning]) => item(`\\fI${escaped(file)}\\fR`, meaning)).join("\n")),
    section(
      "SEE ALSO",
      [KRON, KROND]
        .filter((it) => it.name !== name)
        .map((it) => `.BR ${it.name} (1)`)
        .join("\n"),
    ),
  ];
  return { file: `${name}.1`, text: `${text.join("\n")}\n` };
}

function pageOf(program: Manual): (command: CommandSpec) => ManPage {
  return (command) => commandPage(program, command);
}

export function commandPage(
  { name, version }: Manual,
  { name: verb, summary, usage, details, options }: CommandSpec,
): ManPage {
  const title = `${name}-${verb}`;
  const own = new Set(options.map((it) => it.name));
  const all = [...options, ...COMMON_OPTIONS.filter((it) => !own.has(it.name))];
  const text = [
    header(title, version),
    section("NAME", `${escaped(title)} \\- ${escaped(summary)}`),
    section("SYNOPSIS", `.B ${escaped(`${name} ${verb}`)}\n${escaped(usage)}`),
    section("DESCRIPTION", paragraphs(details)),
    section("OPTIONS", all.map((it) => item(optionText(it), it.help)).join("\n")),
    section("SEE ALSO", `.BR ${escaped(name)} (1)`),
  ];
  return { file: `${title}.1`, text: `${text.join("\n")}\n` };
}

function header(title: string, version: string): string {
  return `.TH ${escaped(title.toUpperCase())} 1 "" "Kron ${version}" "Kron"`;
}

function section(title: string, body: string): string {
  return `.SH ${title}\n${body}`;
}

function item(term: string, meaning: string): string {
  return `.TP\n${term}\n${escaped(meaning)}`;
}

function optionText({ name, short, value }: OptionSpec): string {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map((it) => `\\fB${escaped(it)}\\fR`);
  return names.join(", ") + (value === undefined ? "" : ` \\fI${escaped(value)}\\fR`);
}

function withoutName(summary: string, name: string): string {
  return summary.replace(new RegExp(`^${name}: `, "i"), "").replace(/\.$/, "");
}
