/** What is asked of every source. Each rule answers with what breaks it. */
import ts from "typescript";
import { importsOf, linesOf, nodesOf, type Sources } from "./tree.js";

/** Each folder knows only those before it. */
const CORE_ORDER: readonly string[] = [
  "base",
  "time",
  "cron",
  "decision",
  "job",
  "governor",
  "period",
  "state",
  "restart",
  "config",
  "why",
  "notify",
  "forecast",
  "endpoint",
];

const CORE_FOLDER = /^src\/core\/([^/]+)\//;

export function outOfOrder(sources: Sources): readonly string[] {
  const rank = (file: string): number => CORE_ORDER.indexOf(CORE_FOLDER.exec(file)?.[1] ?? "");
  return [...sources.values()].flatMap((source) => {
    if (!CORE_FOLDER.test(source.file)) return [];
    if (rank(source.file) < 0) return [`${source.file}: its folder has no place in the order`];
    const upwards = importsOf(source).filter((other) => rank(other) > rank(source.file));
    return upwards.map((other) => `${source.file} → ${other}`);
  });
}

export function longFiles(sources: Sources, most: number): readonly string[] {
  const lengths = [...sources.values()].map(({ file, tree }) => ({ file, lines: tree.getLineStarts().length - 1 }));
  return lengths.filter(({ lines }) => lines > most).map(({ file, lines }) => `${file}: ${lines} lines`);
}

export function longFunctions(sources: Sources, most: number): readonly string[] {
  return [...sources.values()].flatMap(({ file, tree }) => {
    const functions = [...nodesOf(tree)].filter((node) => ts.isFunctionLike(node) && "body" in node);
    const long = functions.filter((node) => linesOf(node, tree) > most);
    return long.map((node) => `${file}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`);
  });
}

/** Methods of a port that nothing calls: `port.method(` is looked for everywhere but where the port itself is written. */
export function uncalledMethods(
  sources: Sources,
  ports: readonly (readonly [file: string, name: string])[],
): readonly string[] {
  const named = new Set<string>();
  for (const { tree } of sources.values()) {
    for (const node of nodesOf(tree)) if (ts.isPropertyAccessExpression(node)) named.add(node.name.text);
    for (const node of nodesOf(tree))
      if (ts.isBindingElement(node)) named.add((node.propertyName ?? node.name).getText(tree));
  }
  return ports.flatMap(([file, name]) => {
    const tree = sources.get(file)?.tree;
    const port = tree?.statements.find(
      (it): it is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(it) && it.name.text === name,
    );
    if (tree === undefined || port === undefined) return [`${file}: there is no ${name}`];
    const members = port.members.flatMap((member) => (member.name === undefined ? [] : [member.name.getText(tree)]));
    return members.filter((member) => !named.has(member)).map((member) => `${name}.${member}`);
  });
}
