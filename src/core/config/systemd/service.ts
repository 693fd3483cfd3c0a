/** The service that a timer starts: what is run, as whom, where, with which environment. */
import { formatDuration } from "../../time/duration.js";
import { type CommandPlace, readCommands, shellText, type UnitCommand } from "./command.js";
import { type Repeats, repeatsOf } from "./repeats.js";
import type { SystemdRules, UnitNotes } from "./report.js";
import { expandSpecifiers } from "./specifiers.js";
import { parseTimeSpan } from "./time-span.js";
import type { Unit, UnitEntry } from "./unit.js";
import { isTrue, lastOf, listOf } from "./values.js";
import { splitWords } from "./words.js";

/** The fields of a job that come from its service, and where each of them was said. */
export interface ServiceJob {
  readonly raw: Readonly<Record<string, unknown>>;
  /** Apart from them: not every job may be tried again. */
  readonly repeats: Repeats | null;
  lineOf(field: string | number | undefined): number;
  fileOf(field: string | number | undefined): string | null;
}

/** What systemd searches for programs without a path, and hands on to all of them. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const TYPES: ReadonlySet<string> = new Set(["oneshot", "simple", "exec", "idle"]);

/** null when there is nothing to run; why is among the notes. */
export function readService(service: Unit, rules: SystemdRules, notes: UnitNotes): ServiceJob | null {
  return new ServiceReader(service, rules, notes).read();
}

class ServiceReader {
  readonly #service: Unit;
  readonly #isUser: boolean;
  readonly #notes: UnitNotes;
  readonly #places = new Map<string, UnitEntry>();

  constructor(service: Unit, { isUser }: SystemdRules, notes: UnitNotes) {
    this.#service = service;
    this.#isUser = isUser;
    this.#notes = notes;
  }

  read(): ServiceJob | null {
    this.#refuseKinds();
    const env = this.#environment();
    const user = this.#expanded("User", "user");
    const target = this.#target(env, user);
    if (target === null) return null;
    const [group, cwd] = [this.#expanded("Group", "group"), this.#directory()];
    const umask = lastOf(this.#service, "Service", "UMask")?.value;
    const description = this.#text("Description", "Unit");
    const raw = {
      ...target,
      ...(cwd === null ? {} : { cwd }),
      ...(group === null ? {} : { group }),
      ...(umask === undefined ? {} : { umask: umask.replace(/^0+(?=\d{3}$)/, "") }),
      ...(description === null || description === "" ? {} : { description }),
      env: { ...(this.#isUser ? {} : { PATH }), ...env },
      ...this.#environmentFiles(env),
      ...this.#passed(),
      ...this.#timeout(),
      ...this.#output(),
    };
    return {
      raw,
      repeats: repeatsOf(this.#service, this.#notes),
      lineOf: (field) => this.#places.get(String(field))?.line ?? 1,
      fileOf: (field) => this.#places.get(String(field))?.file ?? this.#service.file,
    };
  }

  /** What would run something else, or somewhere else. */
  #refuseKinds(): void {
    const type = lastOf(this.#service, "Service", "Type");
    if (type !== null && !TYPES.has(type.value)) {
      this.#notes.refuse(type, `a service of type ${type.value} goes on running, which is no job`);
    }
    const dynamic = lastOf(this.#service, "Service", "DynamicUser");
    if (dynamic !== null && isTrue(dynamic.value)) {
      this.#notes.refuse(dynamic, "accounts are not made for a run", "make an account, and name it with User=");
    }
    for (const key of ["RootDirectory", "RootImage"]) {
      const root = lastOf(this.#service, "Service", key);
      if (root !== null) this.#notes.refuse(root, "a run has the root of the host", "let the command be chroot");
    }
  }

  #environment(): Readonly<Record<string, string>> {
    const env: Record<string, string> = {};
    for (const entry of listOf(this.#service, "Service", "Environment")) {
      const words = splitWords(entry.value);
      if (!words.ok) this.#notes.refuse(entry, words.error);
      for (const { text } of words.ok ? words.value : []) {
        const expanded = expandSpecifiers(text, this.#place());
        const equals = text.indexOf("=");
        if (!expanded.ok) this.#notes.refuse(entry, expanded.error);
        else if (equals < 1) this.#notes.refuse(entry, `"${text}" is not NAME=value`);
        else env[text.slice(0, equals)] = expanded.value.slice(equals + 1);
      }
      this.#places.set("env", entry);
    }
    return env;
  }

  #environmentFiles(env: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
    const files: string[] = [];
    for (const entry of listOf(this.#service, "Service", "EnvironmentFile")) {
      const path = expandSpecifiers(entry.value.replace(/^-/, ""), this.#place());
      this.#places.set("env_file", entry);
      if (!path.ok) this.#notes.refuse(entry, path.error);
      else if (/[*?[]/.test(path.value)) {
        this.#notes.refuse(entry, "a pattern names no file", "name the files one by one");
      } else files.push(path.value);
      if (entry.value.startsWith("-"))
        this.#notes.say(entry, "noted", "a file that is missing keeps the job from running");
      if (Object.keys(env).length > 0) {
        this.#notes.say(entry, "noted", "where Environment= names a variable too, the file does not change it");
      }
    }
    return files.length === 0 ? {} : { env_file: files };
  }

  #passed(): Readonly<Record<string, unknown>> {
    const entries = listOf(this.#service, "Service", "PassEnvironment");
    const names = entries.flatMap(({ value }) => value.split(/\s+/).filter((name) => name !== ""));
    for (const entry of entries) this.#places.set("pass_env", entry);
    return names.length === 0 ? {} : { pass_env: names };
  }

  #place(): { readonly unit: string; readonly isUser: boolean } {
    return { unit: this.#service.name, isUser: this.#isUser };
  }

  /** Command and account belong together: a prefix may ask for another one. */
  #target(env: Readonly<Record<string, string>>, user: string | null): Readonly<Record<string, unknown>> | null {
    const commands = ["ExecStartPre", "ExecStart", "ExecStartPost"].flatMap((key) => this.#commands(key, env));
    const main = listOf(this.#service, "Service", "ExecStart").at(-1);
    const [only, ...more] = commands;
    if (main === undefined || only === undefined) {
      if (main === undefined) this.#notes.problem(this.#service.file, 1, "there is no ExecStart: nothing to run");
      return null;
    }
    this.#places.set("command", main);
    const account = this.#account(commands, user, main);
    const fields = account === null ? {} : { user: account };
    if (more.length > 0) {
      this.#notes.say(main, "noted", "several commands: /bin/sh runs them one after the other, until one fails");
      return { ...fields, command: shellText(commands), shell: true };
    }
    if (only.mayFail) this.#notes.say(main, "noted", "its failure is recorded as one");
    return { ...fields, command: only.argv, shell: false };
  }

  #account(commands: readonly UnitCommand[], user: string | null, main: UnitEntry): string | null {
    const privileged = commands.filter(({ isPrivileged }) => isPrivileged).length;
    if (privileged === 0 || user === null) return user ?? (this.#isUser ? null : "root");
    if (privileged === commands.length) return "root";
    const hint = "make two jobs of it, or let the command be a script that root runs";
    this.#notes.refuse(main, `some of the commands run as root, others as ${user}`, hint);
    return null;
  }

  #commands(key: string, env: Readonly<Record<string, string>>): readonly UnitCommand[] {
    const place: CommandPlace = { ...this.#place(), env };
    return listOf(this.#service, "Service", key).flatMap((entry) => {
      const read = readCommands(entry.value, place);
      if (!read.ok) this.#notes.refuse(entry, read.error);
      return read.ok ? read.value : [];
    });
  }

  /** systemd's own choice is the root directory, and the home directory of a user. */
  #directory(): string | null {
    const written = this.#expanded("WorkingDirectory", "cwd");
    const entry = this.#places.get("cwd");
    if (written === null || entry === undefined) return this.#isUser ? null : "/";
    if (written === "~" || written === "-~") return null;
    if (written.startsWith("-"))
      this.#notes.say(entry, "noted", "a directory that is missing keeps the job from running");
    return written.replace(/^-/, "");
  }

  #timeout(): Readonly<Record<string, string>> {
    const isOneshot = lastOf(this.#service, "Service", "Type")?.value === "oneshot";
    const keys = isOneshot ? ["TimeoutSec", "TimeoutStartSec", "RuntimeMaxSec"] : ["RuntimeMaxSec"];
    const entries = keys.flatMap((key) => lastOf(this.#service, "Service", key) ?? []);
    let shortest = Number.POSITIVE_INFINITY;
    for (const entry of entries) {
      const ms = parseTimeSpan(entry.value);
      this.#places.set("timeout", entry);
      if (ms === null) this.#notes.refuse(entry, `"${entry.value}" is not a time span`, "write it like 1h 30min");
      // To systemd 0 is no bound at all.
      else if (ms > 0) shortest = Math.min(shortest, ms);
    }
    return Number.isFinite(shortest) ? { timeout: formatDuration(shortest) } : {};
  }

  #output(): Readonly<Record<string, unknown>> {
    const entry = lastOf(this.#service, "Service", "StandardOutput");
    if (entry === null) return {};
    this.#places.set("output", entry);
    if (entry.value === "null") return { output: { to: "discard" } };
    if (/^(syslog|journal|kmsg)(\+console)?$/.test(entry.value)) return { output: { to: "syslog" } };
    this.#notes.say(entry, "unsupported", "what a run prints is kept in a file, see: kron logs");
    return {};
  }

  #text(key: string, section = "Service"): string | null {
    const entry = lastOf(this.#service, section, key);
    if (entry === null) return null;
    const expanded = expandSpecifiers(entry.value, this.#place());
    return expanded.ok ? expanded.value : entry.value;
  }

  /** A value that matters: a specifier that nobody can fill in is no detail. */
  #expanded(key: string, field: string): string | null {
    const entry = lastOf(this.#service, "Service", key);
    if (entry === null) return null;
    this.#places.set(field, entry);
    const expanded = expandSpecifiers(entry.value, this.#place());
    if (!expanded.ok) this.#notes.refuse(entry, expanded.error);
    return expanded.ok ? expanded.value : null;
  }
}
