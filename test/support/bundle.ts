import * as fs from "node:fs";
import * as path from "node:path";
import { build } from "vite";

const ROOT = path.resolve(import.meta.dirname, "../..");

/**
 * Makes one file of JavaScript out of a TypeScript entry, so that a test can run it as a process of its own and kill
 * it. It lies below node_modules because the packages it imports are looked up from there.
 */
export async function bundleEntry(
  source: string,
  packages: readonly string[] = ["lmdb"],
): Promise<{ readonly file: string; remove(): void }> {
  const name = path.basename(source, ".ts");
  const outDir = path.join(ROOT, "node_modules/.cache/kron-test", `${name}-${process.pid}`);
  await build({
    configFile: false,
    logLevel: "warn",
    root: ROOT,
    build: {
      ssr: source,
      outDir,
      emptyOutDir: true,
      target: "node20",
      minify: false,
      rollupOptions: { external: [/^node:/, ...packages], output: { entryFileNames: `${name}.mjs` } },
    },
  });
  return {
    file: path.join(outDir, `${name}.mjs`),
    remove: () => fs.rmSync(outDir, { recursive: true, force: true }),
  };
}
