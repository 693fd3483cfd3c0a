/**
 * Writes the manual to dist/man: a page for each program and command, made of the tables in src/cli. Called by
 * scripts/ensure.mjs after a build, because a build empties dist.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "tsup";

const root = fileURLToPath(new URL("..", import.meta.url));
const outDir = join(root, "node_modules", ".cache", `kron-man-${process.pid}`);
const target = join(root, "dist", "man");

process.chdir(root);
try {
  await build({
    config: false,
    entry: { pages: "src/cli/man/pages.ts" },
    format: ["esm"],
    target: "node20",
    platform: "node",
    splitting: true,
    silent: true,
    noExternal: [/^@stdlib\//],
    outDir,
  });
  const { allPages } = await import(pathToFileURL(join(outDir, "pages.js")).href);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const { file, text } of allPages()) writeFileSync(join(target, file), text);
} finally {
  rmSync(outDir, { recursive: true, force: true });
}
