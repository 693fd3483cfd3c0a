/** The sources as syntax trees, and who imports whom. Types count: a cycle of types is one that readers go round in. */
import * as fs from "node:fs";
import * as path from "node:path";
import ts from "typescript";

export interface Source {
  /** From the root of the repository, with slashes. */
  readonly file: string;
  readonly tree: ts.SourceFile;
}

export type Sources = ReadonlyMap<string, Source>;

export function parse(file: string, text: string): Source {
  return { file, tree: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) };
}

export function readSources(root: string, folder: string): Sources {
  const names = fs.readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => /\.tsx?$/.test(name)).map((name) => path.posix.join(folder, name));
  return new Map(files.sort().map((file) => [file, parse(file, fs.readFileSync(path.join(root, file), "utf8"))]));
}

/** Every node below, and the node itself. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  const below: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    below.push(child);
  });
  for (const child of below) yield* nodesOf(child);
}

/** Of ours, whatever the form: import, re-export, type only, or while running. */
export function importsOf({ file, tree }: Source): readonly string[] {
  const named: string[] = [];
  for (const node of nodesOf(tree)) {
    const from = ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ? node.moduleSpecifier : undefined;
    if (from !== undefined && ts.isStringLiteral(from)) named.push(from.text);
  }
  const own = named.filter((name) => name.startsWith("."));
  return own.map((name) => path.posix.join(path.posix.dirname(file), name).replace(/\.js$/, ".ts"));
}

/** Groups of files that import each other, each as `a → b → a`. */
export function cyclesIn(sources: Sources): readonly string[] {
  const seen = new Set<string>();
  const open: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string): void => {
    const at = open.indexOf(file);
    if (at >= 0) cycles.push([...open.slice(at), file].join(" → "));
    const source = sources.get(file);
    if (at >= 0 || seen.has(file) || source === undefined) return;
    seen.add(file);
    open.push(file);
    for (const next of importsOf(source)) visit(next);
    open.pop();
  };
  for (const file of sources.keys()) visit(file);
  return cycles;
}

export function linesOf(node: ts.Node, tree: ts.SourceFile): number {
  const first = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line;
  return tree.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
}
