/** Which exports somebody imports: another source, the page, the harness, a script of the build, or whoever uses the package. */
import * as path from "node:path";
import ts from "typescript";
import type { Source, Sources } from "./tree.js";

export interface Importers {
  /** Outside of the sources: the page and the harness. */
  readonly others?: Sources;
  /** Shapes may be exported for them to name, and nothing that runs. */
  readonly tests?: Sources;
  /** Files whose exports are for whoever uses the package. */
  readonly entries?: readonly string[];
  /** Of scripts that put imports together as texts: each of their words counts. */
  readonly scripts?: string;
}

/** Exports that nobody imports. For what their own file alone uses there is no need of one. */
export function unusedExports(
  sources: Sources,
  { others = new Map(), tests = new Map(), entries = [], scripts = "" }: Importers = {},
): readonly string[] {
  const imported = new Imported();
  for (const source of [...sources.values(), ...others.values()]) imported.look(source, false);
  for (const source of tests.values()) imported.look(source, true);
  const words = new Set(scripts.match(/\w+/g));
  return [...sources.values()].flatMap((source) => {
    if (entries.includes(source.file)) return [];
    const unused = exportsOf(source).filter((name) => !words.has(name) && !imported.has(source.file, name));
    return unused.map((name) => `${source.file}: ${name}`);
  });
}

/** By file: the names that are imported from it. */
class Imported {
  readonly #names = new Map<string, Set<string>>();

  has(file: string, name: string): boolean {
    return this.#names.get(file)?.has(name) === true;
  }

  look(source: Source, typesAlone: boolean): void {
    for (const statement of source.tree.statements) {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
      const { moduleSpecifier: from } = statement;
      if (from === undefined || !ts.isStringLiteral(from)) continue;
      this.#note(source, from.text, namesOf(statement, source, typesAlone));
    }
    if (typesAlone) return;
    for (const [, from = ""] of source.tree.text.matchAll(BY_AND_BY)) this.#note(source, from, wordsOf(source));
  }

  #note({ file }: Source, from: string, names: readonly string[]): void {
    if (!from.startsWith(".")) return;
    const target = path.posix.join(path.posix.dirname(file), from).replace(/\.js$/, ".ts");
    const known = this.#names.get(target) ?? new Set();
    for (const name of names) known.add(name);
    this.#names.set(target, known);
  }
}

/** While running, or within a type. */
const BY_AND_BY = /\bimport\(\s*"([^"]+)"\s*\)/g;

/** Of a whole that is imported under a name, or by and by, whatever the file names is taken from it. */
function namesOf(
  statement: ts.ImportDeclaration | ts.ExportDeclaration,
  source: Source,
  typesAlone: boolean,
): readonly string[] {
  const clause = ts.isImportDeclaration(statement) ? statement.importClause : undefined;
  const list = ts.isImportDeclaration(statement) ? clause?.namedBindings : statement.exportClause;
  const areTypes = clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  if (list !== undefined && "elements" in list) {
    const named = [...list.elements].filter(({ isTypeOnly }) => !typesAlone || areTypes || isTypeOnly);
    return named.map(({ name, propertyName }) => (propertyName ?? name).text);
  }
  const isWhole = ts.isExportDeclaration(statement) || list !== undefined;
  return isWhole && !typesAlone ? wordsOf(source) : [];
}

function wordsOf({ tree }: Source): readonly string[] {
  return tree.text.match(/\w+/g) ?? [];
}

function exportsOf({ tree }: Source): readonly string[] {
  return tree.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const list = statement.exportClause;
      return list !== undefined && ts.isNamedExports(list) ? list.elements.map(({ name }) => name.text) : [];
    }
    if (!isExported(statement)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => boundIn(name));
    return "name" in statement && statement.name !== undefined ? [(statement.name as ts.Identifier).text] : [];
  });
}

function isExported(node: ts.Node): boolean {
  const isOne = ({ kind }: ts.Modifier): boolean => kind === ts.SyntaxKind.ExportKeyword;
  return ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(isOne) === true;
}

function boundIn(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundIn(element.name) : []));
}
