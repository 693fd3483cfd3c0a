/** Small programs in C, compiled where the benchmark runs: nothing else starts as quickly or costs as little. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const COMPILERS = ["cc", "gcc", "clang"];

function compilerHere() {
  return COMPILERS.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0) ?? null;
}

function compile(compiler, name, directory, options) {
  const source = join(directory, `${name}.c`);
  const output = join(directory, name);
  writeFileSync(source, readFileSync(new URL(`./${name}.c.txt`, import.meta.url), "utf8"));
  execFileSync(compiler, ["-O2", "-o", output, source, ...options], { stdio: ["ignore", "ignore", "pipe"] });
  return output;
}

/** Static where that is possible: there is no loading of libraries that one start could wait for and another not. */
function compileProgram(compiler, name, directory) {
  try {
    return compile(compiler, name, directory, ["-static"]);
  } catch {
    return compile(compiler, name, directory, []);
  }
}

/**
 * `stamp`: the command line that appends the time of its own start to a file. `spawner`: the program that starts it by
 * itself, or null. `reason`: why it is null.
 */
export function nativePrograms(directory) {
  const compiler = compilerHere();
  if (compiler === null) return { ...shellStamp(directory), reason: "no C compiler is installed" };
  try {
    const spawner = compileProgram(compiler, "spawn", directory);
    return { stamp: (file) => [spawner, "stamp", file], spawner, reason: null };
  } catch (error) {
    return { ...shellStamp(directory), reason: `${compiler} cannot compile it: ${String(error.stderr).slice(0, 200)}` };
  }
}

/** Starts `date` first, and so says a later time than that of its start: by the same for everybody. */
function shellStamp(directory) {
  const script = join(directory, "stamp.sh");
  writeFileSync(script, '#!/bin/sh\ndate +%s%N >>"$1"\n', { mode: 0o700 });
  return { stamp: (file) => [script, file], spawner: null };
}

/** A library that sets the clock of a program ahead; null where it cannot be made. */
export function clockShift(directory) {
  const compiler = compilerHere();
  if (compiler === null) return null;
  try {
    return compile(compiler, "clock-shift", directory, ["-shared", "-fPIC", "-ldl"]);
  } catch {
    return null;
  }
}
