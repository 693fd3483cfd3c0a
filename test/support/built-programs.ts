/**
 * Builds the programs once a run, from the sources as they are and as the package has them, for all tests that start
 * processes. They lie below node_modules because the packages they import are looked up from there.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { build, type Options } from "tsup";
import { build as buildPage } from "vite";
import type { TestProject } from "vitest/node";
import config from "../../tsup.config.js";

const ROOT = path.resolve(import.meta.dirname, "../..");

export interface Programs {
  readonly krond: string;
  readonly kron: string;
}

declare module "vitest" {
  interface ProvidedContext {
    readonly programs: Programs;
  }
}

export async function setup(project: TestProject): Promise<() => void> {
  const home = path.join(ROOT, "node_modules/.cache/kron-test", `programs-${process.pid}-${project.name}`);
  const outDir = path.join(home, "dist");
  const { imports } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  fs.mkdirSync(home, { recursive: true });
  fs.writeFileSync(path.join(home, "package.json"), JSON.stringify({ type: "module", imports }));
  // The working directory of a run may be another one; tsup takes its own for the root.
  await build({ ...(config as Options), config: false, outDir, sourcemap: false, silent: true });
  const page = { outDir: path.join(outDir, "web"), emptyOutDir: true };
  await asInProduction(() => {
    return buildPage({ configFile: path.join(ROOT, "web/vite.config.ts"), logLevel: "warn", build: page });
  });
  project.provide("programs", { krond: path.join(outDir, "krond.js"), kron: path.join(outDir, "kron.js") });
  return () => fs.rmSync(home, { recursive: true, force: true });
}

/** Vite goes by the environment, which says that this is a test: the page would not be the one that is shipped. */
async function asInProduction(act: () => Promise<unknown>): Promise<void> {
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    await act();
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}
