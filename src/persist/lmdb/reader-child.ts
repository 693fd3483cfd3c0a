/**
 * A process that looks at a store which nobody has checked: reading a damaged map kills whoever reads it (S31). It gets its
 * program as text, because a program of our own would have to be found again from TypeScript sources, from a bundle and
 * from an installed package; the text needs only the path of `lmdb`, which Node resolves in all three. It sees no
 * environment and none of our descriptors.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Readable } from "node:stream";
import { FILE_MODE } from "../private-files.js";

/** `program` finds in `process.argv`, from index 1 on: where lmdb is, the file, its mode, and `argument`. */
export function startReader(
  program: string,
  file: string,
  argument: string,
  timeoutMs: number,
): ChildProcessByStdio<null, Readable, Readable> {
  const lmdbPath = createRequire(import.meta.url).resolve("lmdb");
  return spawn(process.execPath, ["-e", program, lmdbPath, file, String(FILE_MODE), argument], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
}
