/**
 * Whether a job could be started on this host, found out by what would start it: a process is made ready behind its gate
 * with the job's own user, directory and PATH, and closed again. Nothing of the command ever runs, no output file is made,
 * and nothing is written. Jobs that differ in none of this are looked at once.
 */
import { stat } from "node:fs/promises";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { Problem } from "../../core/base/problem.js";
import { SETTINGS_DEFAULTS } from "../../core/config/settings.js";
import type { HttpTarget, JobDefinition, ProcessTarget, SecretRef } from "../../core/job/definition.js";
import { type EpochMs, formatSecond } from "../../core/time/instant.js";
import { type Environment, readSecret, readSigningKey, TlsProfiles } from "../dispatcher/secrets.js";
import type { ProcessArm } from "../launcher/port.js";
import type { ArmFailure, Runner } from "../runner/port.js";
import { processArmOf } from "../supervisor/run/arm-request.js";
import { namedRefusal } from "../supervisor/run/named-refusal.js";

export interface HostCheckPorts {
  readonly runner: Pick<Runner, "arm" | "abort">;
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Of whoever starts the jobs; null: it is another's, and what comes from it cannot be judged here. */
  readonly env: Environment | null;
  /** Whether jobs will be started by this very user; otherwise what only root may do is no fault of a job. */
  readonly isStarter: boolean;
  /** What mails are handed to. */
  readonly sendmail: readonly string[];
  readonly now: () => EpochMs;
  readonly newId: () => string;
}

/** What was found: nothing wrong, something wrong, or nothing that can be told from here. */
type Startable = { readonly is: "startable" | "untold" } | { readonly is: "refused"; readonly problem: Problem };

/** What speaks of the job, and what to do about it. Every other trouble is the host's own, and may be over in a moment. */
const TELLING: Readonly<Partial<Record<ErrorCode, string>>> = {
  "command-not-found": "it is looked up in the PATH of the job: name it by its whole path, or set PATH in env",
  "command-not-executable": "the job's user needs the right to execute it, and to search the directories on its way",
  "command-too-long": "hand large inputs over in stdin or in a file",
  "cwd-unusable": "make the directory, or correct cwd; the job's user has to be able to enter it",
  "user-unknown": "make the account, or correct user and group",
  "privilege-drop-failed": "krond starts processes as other users only as root, with setpriv (util-linux)",
  "secret-unreadable": "it is read at each start: put it there before the job is due",
  "field-range": "correct the file that it comes from",
};

const TELLER_HINT =
  "nobody would be told: install it, or name another program, for mail in notifications: { sendmail: [...] }";
const OPEN_FILES = 1024;
const DISCARDED = { to: "discard" } as const;

const STARTABLE: Startable = { is: "startable" };
const UNTOLD: Startable = { is: "untold" };

export class HostCheck {
  readonly #ports: HostCheckPorts;
  readonly #known = new Map<string, Promise<Startable>>();
  readonly #tls = new TlsProfiles();

  constructor(ports: HostCheckPorts) {
    this.#ports = ports;
  }

  /** Kinds of jobs that were looked at so far. */
  get looks(): number {
    return this.#known.size;
  }

  /** Whether it would be the first of its kind. */
  isNew({ target }: JobDefinition): boolean {
    return !this.#known.has(kindOf(target));
  }

  of(definition: JobDefinition): Promise<Startable> {
    const kind = kindOf(definition.target);
    const known = this.#known.get(kind);
    if (known !== undefined) return known;
    const { target } = definition;
    const found = target.kind === "http" ? this.#ofRequest(target) : this.#ofProcess(definition, target);
    this.#known.set(kind, found);
    return found;
  }

  /** What people are to be told by, and could not be: each by itself, whether or not the job can be started. */
  async ofNotify({ notify }: JobDefinition): Promise<readonly Problem[]> {
    const problems = notify.map(async ({ target }, index): Promise<readonly Problem[]> => {
      if (target.kind !== "command" && target.kind !== "mail") return [];
      const argv = target.kind === "mail" ? this.#ports.sendmail : target.argv;
      const found = await this.#ofTeller(argv.slice(0, 1));
      return found.is === "refused" ? [{ ...found.problem, path: ["notify", index, target.kind] }] : [];
    });
    return (await Promise.all(problems)).flat();
  }

  #ofTeller(argv: readonly string[]): Promise<Startable> {
    const kind = JSON.stringify(["notify", ...argv]);
    const found = this.#known.get(kind) ?? this.#lookForTeller(argv);
    this.#known.set(kind, found);
    return found;
  }

  /** As the messenger starts it: as whoever the daemon is, at home. */
  async #lookForTeller(argv: readonly string[]): Promise<Startable> {
    const { baseEnv: env, isStarter } = this.#ports;
    const account = { user: null, group: null, cwd: null, umask: null, accountEnv: true, openFiles: OPEN_FILES };
    const command = { kind: "argv", argv } as const;
    const request = {
      kind: "process",
      attemptId: "",
      command,
      env,
      ...account,
      stdin: null,
      output: DISCARDED,
    } as const;
    if (!isStarter) return this.#asOurselves(request);
    const refusal = await this.#refusalOf(request);
    return refusal === null ? STARTABLE : verdictOn(refusal, request, [], TELLER_HINT);
  }

  async #ofProcess(definition: JobDefinition, target: ProcessTarget): Promise<Startable> {
    const request = this.#probeOf(definition, target);
    const refusal = await this.#refusalOf(request);
    if (refusal === null) return STARTABLE;
    if (refusal.code !== "privilege-drop-failed" || this.#ports.isStarter) return verdictOn(refusal, request);
    return this.#asOurselves(request);
  }

  /** Somebody else will start it as whom it is to run: what is not there for us is not there for anybody. */
  async #asOurselves(request: ProcessArm): Promise<Startable> {
    const refusal = await this.#refusalOf({ ...request, attemptId: "", user: null, group: null });
    if (refusal === null) return UNTOLD;
    const name = request.command.kind === "argv" ? (request.command.argv[0] ?? "") : "/bin/sh";
    const isBareName = !name.includes("/");
    const isSure =
      refusal.code === "cwd-unusable"
        ? await isMissing(request.cwd)
        : refusal.code === "command-not-found" && (isBareName || (await isMissing(name)));
    return isSure ? verdictOn(refusal, request) : UNTOLD;
  }

  async #refusalOf(request: ProcessArm): Promise<ArmFailure | null> {
    const attemptId = this.#ports.newId();
    const { runner } = this.#ports;
    const armed = await runner.arm({ ...request, attemptId, env: { ...request.env, KRON_ATTEMPT_ID: attemptId } });
    if (!armed.ok) return armed.error;
    await runner.abort(armed.value);
    return null;
  }

  /** As at a start, less what is only for the command: its arguments, its input, its output. */
  #probeOf(definition: JobDefinition, target: ProcessTarget): ProcessArm {
    const { baseEnv, env, now, newId } = this.#ports;
    const at = now();
    const attempt = { attemptId: newId(), source: "check", periodId: formatSecond(at), slotAt: at, chosenAt: at };
    const place = { outputDirectory: "/", baseEnv, killGraceMs: 0, http: SETTINGS_DEFAULTS.http };
    const { envSources, ...request } = processArmOf(definition, target, attempt, place);
    const { command } = request;
    const bare = command.kind === "argv" ? { ...command, argv: command.argv.slice(0, 1) } : { ...command, text: ":" };
    const sources = env === null && envSources !== undefined ? { ...envSources, credentials: {} } : envSources;
    return {
      ...request,
      command: bare,
      stdin: null,
      output: { to: "discard" },
      ...(sources === undefined ? {} : { envSources: sources }),
    };
  }

  async #ofRequest({ secretHeaders, signature, tls }: HttpTarget): Promise<Startable> {
    const { env } = this.#ports;
    const profile = await this.#tls.read(tls);
    if (!profile.ok) return verdictOn(profile.error, null, tlsFieldOf(profile.error, tls));
    let isTold = true;
    for (const { secret, path } of secretsOf(secretHeaders, signature)) {
      if (secret.from === "env" && env === null) isTold = false;
      else {
        const read = await (secret === signature ? readSigningKey : readSecret)(secret, env ?? {});
        if (!read.ok) return verdictOn(read.error, null, path);
      }
    }
    return isTold ? STARTABLE : UNTOLD;
  }
}

function tlsFieldOf({ message }: ArmFailure, { caFile, certFile, keyFile }: HttpTarget["tls"]): FieldPath {
  const files = [
    ["ca_file", caFile],
    ["client_cert_file", certFile],
    ["client_key_file", keyFile],
  ] as const;
  const named = files.find(([, file]) => file !== null && message.includes(file));
  const [field] = named ?? files.find(([, file]) => file !== null) ?? [];
  return field === undefined ? ["http"] : ["http", field];
}

interface PlacedSecret {
  readonly secret: SecretRef;
  readonly path: FieldPath;
}

function secretsOf(headers: HttpTarget["secretHeaders"], signature: SecretRef | null): readonly PlacedSecret[] {
  const ofHeaders = Object.entries(headers).map(([name, secret]): PlacedSecret => {
    return { secret, path: ["http", secret.from === "file" ? "header_files" : "header_env", name] };
  });
  return signature === null ? ofHeaders : [...ofHeaders, { secret: signature, path: ["http", "signature"] }];
}

/** All that decides whether it can be started. */
function kindOf(target: JobDefinition["target"]): string {
  if (target.kind === "http") {
    const { tls, secretHeaders, signature } = target;
    return JSON.stringify(["http", tls, secretHeaders, signature]);
  }
  const { argv, shell, user, group, cwd, env, envSources, umask } = target;
  return JSON.stringify([shell ? null : argv[0], user, group, cwd, env["PATH"], env["HOME"], envSources, umask]);
}

type FieldPath = readonly (string | number)[];

/** `inRequest`: the field of a job that is a request. */
function verdictOn(
  refusal: ArmFailure,
  request: ProcessArm | null,
  inRequest: FieldPath | null = null,
  insteadOfHint?: string,
): Startable {
  const telling = TELLING[refusal.code];
  if (telling === undefined) return UNTOLD;
  const hint = insteadOfHint ?? telling;
  const { code, message } = request === null ? refusal : namedRefusal(refusal, request.command);
  const where = code === "cwd-unusable" && request?.cwd != null ? `: ${JSON.stringify(request.cwd)}` : "";
  const path = inRequest ?? (request === null ? [] : fieldOf(refusal, request));
  return { is: "refused", problem: { code, message: `on this host, ${message}${where}`, path, hint } };
}

/** Which field of the job it is about, as the job is written. */
function fieldOf({ code, message }: ArmFailure, request: ProcessArm): FieldPath {
  const { command, cwd, group, envSources } = request;
  switch (code) {
    case "cwd-unusable":
      // Without a directory of its own it is the home of the user.
      return cwd === null ? ["user"] : ["cwd"];
    case "user-unknown":
    case "privilege-drop-failed":
      return [group !== null && /\bgroup\b/.test(message) && !/\buser\b/.test(message) ? "group" : "user"];
    case "secret-unreadable":
    case "field-range": {
      const files = envSources?.files ?? [];
      const index = files.findIndex((file) => message.includes(file));
      if (index >= 0) return ["env_file", index];
      return Object.keys(envSources?.credentials ?? {}).length > 0 ? ["env_credentials"] : ["env_file"];
    }
    default:
      return command.kind === "argv" ? ["command", 0] : ["command"];
  }
}

async function isMissing(path: string | null): Promise<boolean> {
  if (path === null) return false;
  try {
    await stat(path);
    return false;
  } catch (error) {
    const errno = error instanceof Error && "code" in error ? error.code : "";
    return errno === "ENOENT" || errno === "ENOTDIR";
  }
}
