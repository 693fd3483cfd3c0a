/** The files that keep what runs have printed. A file is there before its run is: it is made as the process is made ready. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";

/** Records in which the newest runs of a job are looked for: between runs lie periods that had none. */
export const RECORDS_LOOKED_AT = 200;

/** Attempts that are known to have begun; null: the job is on no record, so nothing is made ready for it. */
export type Begun = ReadonlySet<string> | null;

export class OutputFiles {
  readonly #directory: string;
  readonly #prefix: string;
  readonly #ask: () => Promise<Begun>;
  #begun: Begun | undefined;

  /** `periodAt` null: of all periods. `ask`: a run may print nothing, so of an empty file only the record tells what it is. */
  constructor(directory: string, periodAt: EpochMs | null, ask: () => Promise<Begun>) {
    this.#directory = directory;
    this.#prefix = periodAt === null ? "" : filePrefix(periodAt);
    this.#ask = ask;
  }

  /** Of runs that began, oldest first: their names sort so. */
  async all(): Promise<readonly string[]> {
    const names = await this.#names();
    const isOfRun = await Promise.all(names.map((name) => this.#isOfRun(name)));
    return names.filter((_, index) => isOfRun[index]);
  }

  /** Of the newest run that began; null: nothing is kept. */
  async newest(): Promise<string | null> {
    for (const name of (await this.#names()).reverse()) {
      if (await this.#isOfRun(name)) return name;
    }
    return null;
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.#directory).catch(orNone);
    return names.filter((name) => name.endsWith(".log") && name.startsWith(this.#prefix)).sort();
  }

  async #isOfRun(name: string): Promise<boolean> {
    if ((await sizeOf(join(this.#directory, name))) > 0) return true;
    this.#begun ??= await this.#ask();
    return this.#begun === null || this.#begun.has(attemptIdIn(name));
  }
}

export function filePrefix(periodAt: EpochMs): string {
  return `${formatInstant(periodAt).replaceAll(":", "")}.`;
}

/** As `outputNameOf` writes them. */
function attemptIdIn(name: string): string {
  return name.split(".").at(-2) ?? "";
}

/** What is gone by now was made ready and called off. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function orNone(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
