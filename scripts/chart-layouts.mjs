/**
 * Draws the charts of all machines anew: `node scripts/chart-layouts.mjs` after one of them was changed. What it writes is
 * kept with the sources, so that nobody needs the layout engine to build Kron; a test says when a drawing is out of date.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { layoutOf } from "./charts/layout.mjs";
import { layoutText } from "./charts/text.mjs";

const root = resolve(import.meta.dirname, "..");
const charts = join(root, "web/src/charts");
const machines = readdirSync(join(root, "src/machines")).filter((name) => name.endsWith(".machine.ts"));
const folder = mkdtempSync(join(root, "node_modules/.charts-"));

try {
  const entry = [
    ...machines.map((name) => `export * from "./src/machines/${name.replace(/\.ts$/, ".js")}";`),
    'export { hashOf } from "./web/src/inspector/chart-layout.js";',
  ].join("\n");
  const outfile = join(folder, "machines.mjs");
  const stdin = { contents: entry, resolveDir: root, loader: "ts" };
  await build({
    stdin,
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "error",
  });
  const { hashOf, ...exported } = await import(pathToFileURL(outfile).href);
  const found = Object.values(exported).filter((value) => typeof value === "object" && value?.root !== undefined);
  for (const machine of found) {
    const layout = await layoutOf(machine);
    const hash = hashOf(JSON.stringify(machine.config));
    writeFileSync(join(charts, `${machine.id}.json`), layoutText({ hash, ...layout }));
    process.stdout.write(`${machine.id}: ${layout.size.join(" x ")}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
