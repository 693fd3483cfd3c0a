/**
 * The few file operations that the files backend is made of, as a port: a test puts a disk in their place that fails,
 * or loses power, between any two of them. Files are 0600, directories 0700, links are never followed.
 */
import * as fs from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { DIRECTORY_MODE, errnoOf, FILE_MODE } from "../private-files.js";

export interface DiskFile {
  write(text: string): Promise<void>;
  truncate(bytes: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface Disk {
  /** A new, empty file. Fails when the name is taken. */
  create(file: string): Promise<DiskFile>;
  /** Writes go to its end. Creates a missing file. */
  append(file: string): Promise<DiskFile>;
  /** null when there is no such file. */
  read(file: string): Promise<Buffer | null>;
  /** Names, in no particular order. */
  list(directory: string): Promise<readonly string[]>;
  /** An existing directory is all right. */
  makeDirectory(directory: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A missing file is all right. */
  remove(file: string): Promise<void>;
  /** Makes names that were created, renamed or removed durable. */
  syncDirectory(directory: string): Promise<void>;
}

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = fs.constants;

async function openFile(file: string, flags: number): Promise<DiskFile> {
  const handle = await open(file, flags | O_NOFOLLOW, FILE_MODE);
  return {
    // writeFile goes on after a short write.
    write: (text) => handle.writeFile(text),
    truncate: (bytes) => handle.truncate(bytes),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function readBytes(file: string): Promise<Buffer | null> {
  try {
    const handle = await open(file, O_RDONLY | O_NOFOLLOW);
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

async function syncNames(directory: string): Promise<void> {
  const handle = await open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function makePrivate(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: DIRECTORY_MODE });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

export const systemDisk: Disk = {
  create: (file) => openFile(file, O_WRONLY | O_CREAT | O_EXCL),
  append: (file) => openFile(file, O_WRONLY | O_CREAT | O_APPEND),
  read: readBytes,
  list: (directory) => readdir(directory),
  makeDirectory: makePrivate,
  rename: (from, to) => rename(from, to),
  remove: (file) => rm(file, { force: true }),
  syncDirectory: syncNames,
};
