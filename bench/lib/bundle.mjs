/** What a benchmark measures of Kron's inside is no part of the library: its source becomes one file in the workplace. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The bundle's path. esbuild comes with the bundler that builds Kron. */
export async function bundle(entry, directory, name) {
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
  });
  return outfile;
}
