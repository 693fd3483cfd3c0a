/** Puts a new text in the place of a file: whole or not at all, and only when the file still is what was read. */

import { open, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { fileWords } from "../../core/base/errors/file-words.js";
import { errnoOf } from "../../persist/private-files.js";
import { CliError, EXIT } from "../exit.js";
import { readText } from "./tune-files.js";

export async function replaceText(path: string, name: string, expected: string, text: string): Promise<void> {
  try {
    // A link stays a link: what it names is replaced.
    await replaceReal(await realpath(path), name, expected, text);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.configuration, `${name}: ${fileWords(error)}`);
  }
}

async function replaceReal(path: string, name: string, expected: string, text: string): Promise<void> {
  const temporary = `${path}.kron-tune`;
  const handle = await open(temporary, "wx", 0o600).catch((error: unknown) => {
    const hint = errnoOf(error) === "EEXIST" ? "a tune that was killed may have left it: remove it" : undefined;
    throw new CliError(EXIT.configuration, `${temporary}: ${fileWords(error)}`, hint);
  });
  try {
    try {
      await handle.writeFile(text, "utf8");
      await keepOwner(handle, path);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await readText(path, name)) !== expected) {
      throw new CliError(EXIT.configuration, `${name} changed meanwhile: nothing is written to it`, "tune it again");
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

async function keepOwner(handle: Awaited<ReturnType<typeof open>>, path: string): Promise<void> {
  const original = await open(path);
  try {
    const { uid, gid, mode } = await original.stat();
    const own = await handle.stat();
    if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid);
    await handle.chmod(mode & 0o7777);
  } finally {
    await original.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
