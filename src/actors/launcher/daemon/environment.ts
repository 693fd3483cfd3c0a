/**
 * Reads the variables that are to be on no record, for one start: from files, from the daemon's own environment, from the
 * credentials that systemd keeps for it. Files are judged as configuration is, on the descriptor they are read through:
 * whoever may write them decides what runs. No message ever holds a value.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { spawnErrorCode } from "../../../core/base/errors/errno.js";
import { LIMITS } from "../../../core/base/limits.js";
import { err, ok, type Result } from "../../../core/base/result.js";
import { parseEnvFile } from "../../../core/job/env-file.js";
import type { ConfigCheck } from "../../../persist/config-files.js";
import type { ArmFailure } from "../../runner/port.js";
import type { ProcessArm } from "../port.js";
import { failure } from "../request-check.js";

interface EnvironmentOptions {
  /** The daemon's own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Who may have written a file; null trusts everybody. A new one each time: accounts come and go. */
  readonly check: (() => ConfigCheck) | null;
}

type Variables = Readonly<Record<string, string>>;
type Read<T> = Result<T, ArmFailure>;

const CREDENTIALS = "CREDENTIALS_DIRECTORY";
/** A named pipe without a writer must not hold us up. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
/** What is short now and may not be in a moment: to be told by its own name. */
const EXHAUSTED: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

export class EnvironmentReader {
  readonly #options: EnvironmentOptions;

  constructor(options: EnvironmentOptions) {
    this.#options = options;
  }

  /** The request with all of its environment. */
  async complete({ envSources, ...request }: ProcessArm): Promise<Read<ProcessArm>> {
    if (envSources === undefined) return ok(request);
    const { files, passed, credentials, kept } = envSources;
    const fromFiles = await this.#fromFiles(files);
    if (!fromFiles.ok) return fromFiles;
    const fromCredentials = await this.#fromCredentials(credentials);
    if (!fromCredentials.ok) return fromCredentials;
    const read = { ...this.#passedOn(passed), ...fromFiles.value, ...fromCredentials.value };
    const own = new Set(kept);
    const added = Object.fromEntries(Object.entries(read).filter(([name]) => !own.has(name)));
    return ok({ ...request, env: { ...request.env, ...added } });
  }

  /** What the daemon does not have, the job does not have either. */
  #passedOn(names: readonly string[]): Variables {
    const { env } = this.#options;
    return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  }

  async #fromFiles(files: readonly string[]): Promise<Read<Variables>> {
    const variables: Record<string, string> = {};
    const check = this.#options.check?.() ?? null;
    for (const file of files) {
      const text = await readText(file, check);
      if (!text.ok) return text;
      const parsed = parseEnvFile(text.value);
      if (!parsed.ok) return refused(`${file}:${parsed.error.line}: ${parsed.error.message}`);
      Object.assign(variables, parsed.value);
    }
    return ok(variables);
  }

  async #fromCredentials(credentials: Variables): Promise<Read<Variables>> {
    const variables: Record<string, string> = {};
    const directory = this.#options.env[CREDENTIALS];
    for (const [name, credential] of Object.entries(credentials)) {
      if (directory === undefined || directory === "") {
        return refused(`there are no credentials: add LoadCredential=${credential}:... to the unit of krond`);
      }
      // The directory is the service manager's own, and nobody else can write it.
      const text = await readText(join(directory, credential), null);
      if (!text.ok) return text;
      if (text.value.includes("\0")) return refused(`the credential ${credential} holds a NUL character`);
      variables[name] = text.value.replace(/\r?\n$/, "");
    }
    return ok(variables);
  }
}

function refused(message: string): Read<never> {
  return err(failure("secret-unreadable", message));
}

async function readText(file: string, check: ConfigCheck | null): Promise<Read<string>> {
  try {
    const handle = await open(file, OPEN_FLAGS);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return refused(`${file} is no file`);
      if (stats.size > LIMITS.environmentBytes)
        return refused(`${file} is longer than ${LIMITS.environmentBytes} bytes`);
      const problem = (await check?.({ path: file, handle, stats })) ?? null;
      if (problem !== null)
        return refused(`${problem.message}${problem.hint === undefined ? "" : `: ${problem.hint}`}`);
      return ok(await handle.readFile("utf8"));
    } finally {
      await handle.close();
    }
  } catch (error) {
    const errno = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const message = `${file} cannot be read: ${errno}`;
    return EXHAUSTED.has(errno) ? err(failure(spawnErrorCode(errno), message)) : refused(message);
  }
}
