/** Compiles examples as a strict reader would, all in one program, without writing any of them to a disk. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  types: ["node"],
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  allowJs: true,
  checkJs: true,
  paths: {
    "kron/scheduler": [join(ROOT, "src/scheduler/index.ts")],
    "kron/testing": [join(ROOT, "src/scheduler/testing/index.ts")],
  },
};

/** What the compiler says of sources, by their names: `name:line: message`. The name decides the language. */
export function strictProblems(sources: ReadonlyMap<string, string>): readonly string[] {
  const files = new Map([...sources].map(([name, code]) => [join(ROOT, name), code]));
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  const program = ts.createProgram([...files.keys()], OPTIONS, host);
  return [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`${file} is no part of its program`);
    return ts.getPreEmitDiagnostics(program, source).map(({ messageText, start = 0 }) => {
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      return `${file.slice(ROOT.length)}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
  });
}
