/** Builds the real scheduler with one deliberate mistake in it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";
import type { Subject } from "./world.js";

export interface Edit {
  /** Below `src/`. */
  readonly file: string;
  /** Must occur exactly once, so that a mutant never outlives the code it was made for. */
  readonly find: string;
  readonly replace: string;
}

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** Below node_modules, so that the bundles find the packages they import. */
const OUTPUT = join(ROOT, "node_modules/.cache/kron-mutants", String(process.pid));

export class StaleMutantError extends Error {
  override readonly name = "StaleMutantError";
}

function applyEdit(code: string, { file, find, replace }: Edit): string {
  const parts = code.split(find);
  if (parts.length !== 2) {
    throw new StaleMutantError(`src/${file} has ${parts.length - 1} times, not once: ${find}`);
  }
  return parts.join(replace);
}

async function bundle(edits: readonly Edit[]): Promise<string> {
  const applied = new Set<Edit>();
  const mutate = (code: string, id: string): string | null => {
    const here = edits.filter((edit) => resolve(ROOT, "src", edit.file) === id);
    for (const edit of here) applied.add(edit);
    return here.length === 0 ? null : here.reduce(applyEdit, code);
  };
  const built = await build({
    configFile: false,
    logLevel: "silent",
    root: ROOT,
    plugins: [{ name: "mutate", enforce: "pre", transform: mutate }],
    build: {
      ssr: join(ROOT, "src/scheduler/index.ts"),
      target: "node20",
      minify: false,
      write: false,
      rolldownOptions: { external: /^[^./]/ },
    },
  });
  const missed = edits.find((edit) => !applied.has(edit));
  if (missed !== undefined) throw new StaleMutantError(`src/${missed.file} is not part of the scheduler`);
  const outputs = "output" in built ? built.output : [];
  const [entry] = outputs;
  if (entry === undefined || outputs.length !== 1) throw new Error("a mutant must be one file");
  return entry.code;
}

/** The subject with these edits; without any it is the scheduler as it is, through the same bundler. */
export async function mutantOf(name: string, edits: readonly Edit[]): Promise<Subject> {
  const file = join(OUTPUT, `${name.replaceAll(/[^a-z0-9]+/gi, "-")}.mjs`);
  const code = await bundle(edits);
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(file, code);
  const module = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    readonly createScheduler: Subject["create"];
    readonly memoryStore: Subject["memoryStore"];
  };
  return { create: module.createScheduler, memoryStore: module.memoryStore };
}

export function removeMutants(): void {
  rmSync(OUTPUT, { recursive: true, force: true });
}
