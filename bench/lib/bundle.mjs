/** What a benchmark measures of Kron's inside is no part of the library: its source becomes one file in the workplace. */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCE = /^(?:\.\.\/)+src\/(.*)\.js$/;

/** Files that had another name before. */
const FORMER = { "supervisor-actor.ts": "supervisor.ts" };

/**
 * The bundle's path. esbuild comes with the bundler that builds Kron. `root`: another version of Kron, whose sources are
 * taken instead; a file that lies elsewhere there is found by its name. `replaced`: by the end of a source's path, the
 * file that takes its place.
 */
export async function bundle(entry, directory, name, { root = ROOT, replaced = {} } = {}) {
  const { build } = await import("esbuild");
  const outfile = join(directory, `${name}.mjs`);
  await build({
    entryPoints: [entry],
    outfile,
    absWorkingDir: ROOT,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "error",
    plugins: [...(root === ROOT ? [] : [sourcesOf(root)]), ...Object.entries(replaced).map(replacing)],
  });
  return outfile;
}

function sourcesOf(root) {
  const files = readdirSync(join(root, "src"), { recursive: true }).map(String);
  const found = (path) => {
    const wanted = `${path}.ts`;
    if (existsSync(join(root, "src", wanted))) return wanted;
    const named = (name) => files.filter((file) => basename(file) === name);
    const asNow = named(basename(wanted));
    const same = asNow.length > 0 ? asNow : named(FORMER[basename(wanted)]);
    if (same.length !== 1) throw new Error(`${root} has ${same.length} files ${basename(wanted)}`);
    return same[0];
  };
  return {
    name: "sources",
    setup: ({ onResolve }) =>
      onResolve({ filter: SOURCE }, ({ path, importer }) =>
        importer.startsWith(join(root, "src")) ? null : { path: join(root, "src", found(SOURCE.exec(path)[1])) },
      ),
  };
}

function replacing([end, file]) {
  return {
    name: `replacing ${end}`,
    setup: ({ onLoad }) =>
      onLoad({ filter: new RegExp(`/src/${end.replaceAll(".", "\\.")}$`) }, () => ({
        contents: `export * from ${JSON.stringify(file)};`,
        loader: "ts",
        resolveDir: ROOT,
      })),
  };
}
