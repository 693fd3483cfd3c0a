/** The page runs in a browser: of the daemon it knows the shapes of what it is told, and nothing that runs. */
import * as fs from "node:fs";
import * as path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const WEB = path.join(ROOT, "web/src");
const SHARED = ["src/operations/", "src/api/web/shapes.ts", "src/krond/inspect/"];
const PACKAGES: readonly string[] = ["preact", "preact/hooks", "@preact/signals"];

/** What a file imports against that. */
function straysOf(file: string, text: string): readonly string[] {
  const found: string[] = [];
  const judge = (specifier: string, isTypeOnly: boolean): void => {
    if (!specifier.startsWith(".")) {
      if (!PACKAGES.includes(specifier)) found.push(specifier);
      return;
    }
    const target = path.relative(ROOT, path.resolve(path.dirname(file), specifier)).replace(/\.js$/, ".ts");
    if (target.startsWith("web/")) return;
    if (!isTypeOnly || !SHARED.some((shared) => target.startsWith(shared))) found.push(target);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      judge(node.moduleSpecifier.text, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    }
    if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      judge(node.moduleSpecifier.text, node.isTypeOnly);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments;
      if (target !== undefined && ts.isStringLiteral(target)) judge(target.text, false);
    }
    ts.forEachChild(node, visit);
  };
  const kind = file.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind));
  return found;
}

describe("the sources of the page", () => {
  const names = fs.readdirSync(WEB, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));

  test.each(names)("%s imports its own kind, three packages, and of the daemon only types", (name) => {
    const file = path.join(WEB, name);
    expect(straysOf(file, fs.readFileSync(file, "utf8"))).toEqual([]);
  });

  test.each([
    [
      "what runs in the daemon",
      'import { LIST } from "../../src/operations/jobs/list.js";',
      "src/operations/jobs/list.ts",
    ],
    ["a type of an inner part", 'import type { Clock } from "../../src/actors/clock.js";', "src/actors/clock.ts"],
    ["another package", 'import { z } from "zod";', "zod"],
    ["by and by", 'const zod = () => import("zod");', "zod"],
  ])("which would be noticed: %s", (_title, text, stray) => {
    expect(straysOf(path.join(WEB, "x.tsx"), text)).toEqual([stray]);
  });
});
