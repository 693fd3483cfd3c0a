import { spawnSync } from "node:child_process";
import * as path from "node:path";
import { build } from "vite";
import { expect, test } from "vitest";
import { temporaryDirectories } from "../../support/temporary.js";

const temporary = temporaryDirectories();

test("the scheduler loads and runs without LMDB and Piscina when a store is injected", async () => {
  const outDir = temporary();
  await build({
    configFile: false,
    logLevel: "warn",
    ssr: { noExternal: true },
    build: {
      ssr: path.join(import.meta.dirname, "standalone.ts"),
      outDir,
      emptyOutDir: true,
      target: "node20",
      minify: false,
      rollupOptions: { external: [/^node:/, "lmdb", "piscina"], output: { entryFileNames: "standalone.mjs" } },
    },
  });
  const { stdout, stderr, status } = spawnSync(process.execPath, ["standalone.mjs"], { cwd: outDir, encoding: "utf8" });
  expect([stderr, status]).toEqual(["", 0]);
  expect(stdout.trim().split("\n")).toEqual(["ran", "TaskStoreError ERR_MODULE_NOT_FOUND"]);
});
