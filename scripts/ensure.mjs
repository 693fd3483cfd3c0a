/**
 * Makes a checkout ready to run: installs packages and builds when they are missing or stale, and does nothing
 * otherwise. With `--types` the build has its declarations and the manual too, as the package needs them. It is called from the scripts
 * themselves and not from pre-scripts, because `ignore-scripts=true` in somebody's npm settings would skip those without
 * a word; npm itself runs it before it packs and after it has installed (`prepare`).
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const lockDirectory = join(root, ".ensure.lock");
const TSUP = join(root, "node_modules", "tsup", "dist", "cli-default.js");
const VITE = join(root, "node_modules", "vite", "bin", "vite.js");
const LOCK_WAIT_MS = 10 * 60_000;
const LOCK_POLL_MS = 200;

/** Two of us at once (two terminals, a test and a start) must not install into the same folder. */
function acquireLock() {
  const giveUpAt = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      mkdirSync(lockDirectory);
      writeFileSync(join(lockDirectory, "pid"), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (isHolderGone()) rmSync(lockDirectory, { recursive: true, force: true });
    else if (Date.now() > giveUpAt)
      fail("another install or build has held .ensure.lock for 10 minutes; remove it if it is stale");
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}

function isHolderGone() {
  const pidFile = join(lockDirectory, "pid");
  try {
    process.kill(Number(readFileSync(pidFile, "utf8")), 0);
    return false;
  } catch (error) {
    if (error.code === "EPERM") return false;
    if (error.code === "ENOENT") {
      // The holder has just made the folder and not yet written its number: give it a moment.
      return existsSync(lockDirectory) && Date.now() - statSync(lockDirectory).mtimeMs > 5_000;
    }
    return true;
  }
}

class Failure extends Error {}

function fail(message) {
  throw new Failure(message);
}

function run(command, args, what) {
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  if (result.status === 0) return;
  process.stderr.write(
    `${result.stdout ?? ""}${result.stderr ?? ""}${result.error ? `${result.error.message}\n` : ""}`,
  );
  fail(`${what} failed`);
}

/** npm writes this file last, so an install that was killed half-way counts as missing. */
function isInstallStale() {
  const installed = join(root, "node_modules", ".package-lock.json");
  // An install for production leaves out what builds.
  if (!existsSync(TSUP)) return true;
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(root, "package-lock.json")).mtimeMs;
}

function install() {
  process.stderr.write("kron: installing packages ...\n");
  // NODE_ENV=production would otherwise leave out what the build needs.
  const args = ["ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
  const npm = process.env.npm_execpath;
  if (npm?.endsWith(".js")) run(process.execPath, [npm, ...args], "npm ci");
  else run("npm", args, "npm ci");
}

function sourceDigest() {
  const hash = createHash("sha256");
  const visit = (path) => {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) visit(join(path, name));
      return;
    }
    hash.update(path.slice(root.length)).update("\0").update(readFileSync(path)).update("\0");
  };
  for (const path of ["src", "web", "package.json", "package-lock.json", "tsconfig.json", "tsup.config.ts"])
    visit(join(root, path));
  return hash.digest("hex");
}

/** A build empties `dist` first: declarations that are there belong to it. */
function buildIfStale({ withTypes }) {
  const stamp = join(root, "dist", ".source-digest");
  const digest = sourceDigest();
  const isBuilt = existsSync(stamp) && readFileSync(stamp, "utf8") === digest;
  const isWhole = ["index.d.ts", "man/kron.1", "web/index.html"].every((name) => existsSync(join(root, "dist", name)));
  if (isBuilt && (!withTypes || isWhole)) return;
  process.stderr.write("kron: building ...\n");
  run(process.execPath, [TSUP, "--silent", ...(withTypes ? ["--dts"] : [])], "the build");
  run(process.execPath, [VITE, "build", "web", "--logLevel", "warn"], "the build of the page");
  if (withTypes) run(process.execPath, [join(root, "scripts", "build-man.mjs")], "the build of the manual");
  writeFileSync(stamp, digest);
}

function ensure() {
  acquireLock();
  try {
    if (isInstallStale()) install();
    buildIfStale({ withTypes: process.argv.includes("--types") });
  } finally {
    rmSync(lockDirectory, { recursive: true, force: true });
  }
}

try {
  ensure();
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`kron: ${error.message}\n`);
  process.exitCode = 1;
}
