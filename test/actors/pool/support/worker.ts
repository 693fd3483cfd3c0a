import * as fs from "node:fs";
import * as path from "node:path";
import { build } from "vite";
import { afterAll, beforeAll } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../../..");

/**
 * The worker program as it would be built, from the sources as they are: threads run no TypeScript. It lies below
 * node_modules because the packages it imports are looked up from there.
 */
export function builtWorker(): {
  readonly entry: () => string;
  readonly variant: (name: string, text: string) => string;
} {
  const outDir = path.join(ROOT, "node_modules/.cache/kron-test", `decision-worker-${process.pid}`);
  const entry = path.join(outDir, "worker.mjs");
  beforeAll(async () => {
    await build({
      configFile: false,
      logLevel: "warn",
      root: ROOT,
      build: {
        ssr: path.join(ROOT, "src/actors/pool/thread/worker.ts"),
        outDir,
        emptyOutDir: true,
        target: "node20",
        minify: false,
        rollupOptions: { external: [/^node:/, /^(?![./#]|\/)[^:]+$/], output: { entryFileNames: "worker.mjs" } },
      },
    });
  });
  afterAll(() => fs.rmSync(outDir, { recursive: true, force: true }));
  return {
    entry: () => entry,
    /** A worker of its own making, which finds the real one at `./worker.mjs`. */
    variant: (name, text) => {
      const file = path.join(outDir, `${name}.mjs`);
      fs.writeFileSync(file, text);
      return file;
    },
  };
}
