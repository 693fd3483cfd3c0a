/** Runs the code of examples, as a reader would, and compares what it prints with what it says it prints. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { format } from "node:util";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** Below node_modules, so that what is built finds its packages. */
const OUTPUT = join(ROOT, "node_modules/.cache/kron-examples", String(process.pid));
const BLOCK = /```ts\n([\s\S]*?)```/g;
const PRINTS = /console\.log\(.*\);\s*\/\/ (.*)$/;

export interface Example {
  readonly code: string;
  /** What follows `//` behind every `console.log`: the printed text, then perhaps a colon and a remark. */
  readonly prints: readonly string[];
}

/** The TypeScript blocks of a Markdown page, or of the comments of a source file. */
export function examplesOf(text: string): readonly Example[] {
  const plain = text.replaceAll(/^[ \t]*\* ?/gm, "");
  return [...plain.matchAll(BLOCK)].map(([, code = ""]) => ({
    code,
    prints: code.split("\n").flatMap((line) => PRINTS.exec(line)?.[1] ?? []),
  }));
}

async function compile(source: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    root: ROOT,
    resolve: {
      alias: {
        "kron/testing": join(ROOT, "src/scheduler/testing/index.ts"),
        "kron/scheduler": join(ROOT, "src/scheduler/index.ts"),
      },
    },
    build: {
      ssr: source,
      target: "node20",
      minify: false,
      write: false,
      rolldownOptions: { external: (id) => /^[^./]/.test(id) && !id.startsWith("kron/") },
    },
  });
  const [chunk] = "output" in built ? built.output : [];
  if (chunk === undefined) throw new Error("the example could not be built");
  return chunk.code;
}

/** Runs the example and returns the lines it printed. */
export async function run(name: string, { code }: Example): Promise<readonly string[]> {
  mkdirSync(OUTPUT, { recursive: true });
  const base = join(OUTPUT, name.replaceAll(/[^a-z0-9]+/gi, "-"));
  writeFileSync(`${base}.ts`, code);
  writeFileSync(`${base}.mjs`, await compile(`${base}.ts`));
  const lines: string[] = [];
  const { log } = console;
  console.log = (...values: unknown[]) => void lines.push(format(...values));
  try {
    await import(/* @vite-ignore */ pathToFileURL(`${base}.mjs`).href);
  } finally {
    console.log = log;
  }
  return lines;
}

export function matches(printed: string, said: string): boolean {
  return said === printed || said.startsWith(`${printed}: `);
}

export function removeExamples(): void {
  rmSync(OUTPUT, { recursive: true, force: true });
}
