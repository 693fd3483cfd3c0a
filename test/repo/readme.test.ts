/** The library programs of the README compile as a strict project would have them. */
import * as fs from "node:fs";
import * as path from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const BLOCK = /```ts\n([\s\S]*?)```/g;

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  types: ["node"],
  typeRoots: [path.join(ROOT, "node_modules/@types")],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  skipLibCheck: true,
  // What the package exports, before it is built.
  paths: { kron: [path.join(ROOT, "src/index.ts")], "kron/scheduler": [path.join(ROOT, "src/scheduler/index.ts")] },
};

/** Says what is wrong, a line each. */
function problemsOf(programs: readonly string[]): string[] {
  const files = new Map(programs.map((text, index) => [path.join(ROOT, `readme-${index + 1}.mts`), text]));
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const text = files.get(name);
    return text === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, text, ts.ScriptTarget.ES2023);
  };
  const program = ts.createProgram([...files.keys()], OPTIONS, host);
  const own = [...files.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  return own.map(({ file, messageText }) => {
    return `${path.basename(file?.fileName ?? "")}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}

test("the TypeScript of the README is strict-clean, and what is not would be seen", () => {
  const readme = fs.readFileSync(path.join(ROOT, "README.md"), "utf8");
  const blocks = [...readme.matchAll(BLOCK)].map(([, code = ""]) => code);
  expect(blocks.length).toBeGreaterThan(0);
  const careless = `import { compileRule, decide } from "kron";
    declare const job: ReturnType<typeof compileRule>;
    decide(job, job.schedule.next(0));`;
  expect(problemsOf([...blocks, careless])).toEqual([
    expect.stringMatching(new RegExp(`^readme-${blocks.length + 1}.mts: Argument of type 'number \\| null'`)),
  ]);
});
