/**
 * State belongs to one user and to nobody else: directories 0700, files 0600, our own, and never a link. Everything
 * that touches the state directory asks here first. What is wrong is refused, never repaired: a foreign owner or an
 * open mode means that somebody may already have changed what is inside.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { KronError } from "../core/base/errors/kron-error.js";
import { messageOf } from "../core/base/errors/message.js";
import { err, ok, type Result } from "../core/base/result.js";

export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;
const PERMISSION_BITS = 0o7777;
/**
 * Set on a directory it hands its group on to what is made inside, and permits nothing to anybody: below a volume that a
 * cluster gave a group (`fsGroup`) every new directory is born with it.
 */
const SETGID = 0o2000;
const OTHERS_MAY_WRITE = 0o022;
const GROUP_MAY_WRITE = 0o020;

const OPEN_DIRECTORY = fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW;

function octal(mode: number): string {
  return (mode & PERMISSION_BITS).toString(8).padStart(4, "0");
}

function refuse(message: string, hint?: string): Result<never, KronError> {
  return err(
    new KronError("state-permissions", message, {
      component: "persist",
      operation: "open",
      ...(hint === undefined ? {} : { hint }),
    }),
  );
}

export function errnoOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function unreadable(what: string, error: unknown, hint?: string): Result<never, KronError> {
  return err(
    new KronError("state-unreadable", `${what}: ${messageOf(error)}`, {
      component: "persist",
      operation: "open",
      cause: error,
      ...(hint === undefined ? {} : { hint }),
    }),
  );
}

/** Who may make what: the words for a host, and for a pod. */
function creationHint(directory: string, errno: string): string | undefined {
  const user = process.geteuid?.() ?? 0;
  if (errno === "EROFS") return "mount something writable there, or name another directory with --state";
  if (errno !== "EACCES" && errno !== "EPERM") return undefined;
  return `as root: install -d -m 0700 -o ${user} ${directory}; in a pod: fsGroup in its securityContext, for the volume`;
}

function checkOwnerAndMode(file: string, stat: fs.Stats, mode: number): Result<void, KronError> {
  const user = process.geteuid?.();
  if (user !== undefined && stat.uid !== user) {
    return refuse(`${file} belongs to user ${stat.uid}, not to ${user}`, ownerHint(file, stat, user));
  }
  const ignored = stat.isDirectory() ? SETGID : 0;
  if ((stat.mode & PERMISSION_BITS & ~ignored) !== mode) {
    return refuse(`${file} has mode ${octal(stat.mode)}, it must be ${octal(mode)}`, modeHint(file, stat, mode));
  }
  return ok(undefined);
}

/** A mount point belongs to whoever has made the volume, and need not be ours: what we make inside is. */
function ownerHint(file: string, stat: fs.Stats, user: number): string {
  if (!stat.isDirectory()) return `chown ${user} ${file}, if you know who wrote it`;
  if (user === 0) return `run this as user ${stat.uid}, or: chown 0 ${file} && chmod 0700 ${file}`;
  return isWritable(file)
    ? `name a directory inside that krond makes for itself: --state ${path.join(file, "krond")}`
    : `chown ${user} ${file} && chmod 0700 ${file}`;
}

function modeHint(file: string, stat: fs.Stats, mode: number): string {
  const command = `chmod ${octal(mode)} ${file}`;
  if (!stat.isDirectory()) return command;
  // Ours, and opened to its group: what a cluster does to a whole volume each time a pod starts, unless it is told not to.
  if ((stat.mode & (SETGID | GROUP_MAY_WRITE)) === (SETGID | GROUP_MAY_WRITE)) {
    return `chmod -R go= ${file}; in a pod: fsGroupChangePolicy: OnRootMismatch, and --state a directory inside the volume`;
  }
  if ((stat.mode & OTHERS_MAY_WRITE) !== 0) {
    return `${command}, or name a directory inside that krond makes for itself: --state ${path.join(file, "krond")}`;
  }
  return `${command}; of a unit of systemd: StateDirectoryMode=${octal(mode)}`;
}

function isWritable(directory: string): boolean {
  try {
    fs.accessSync(directory, fs.constants.W_OK | fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Ancestors may be links: only the directory itself has to be ours. */
function syncAncestor(directory: string): void {
  const descriptor = fs.openSync(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** The name of a new directory is durable when this returns, and so are the names of ancestors that were missing. */
function makeDirectory(directory: string): Result<void, KronError> {
  try {
    const parent = path.dirname(directory);
    const firstMade = fs.mkdirSync(parent, { recursive: true });
    fs.mkdirSync(directory, { mode: DIRECTORY_MODE });
    const oldest = firstMade === undefined ? parent : path.dirname(firstMade);
    for (let at = parent; at.startsWith(oldest); at = path.dirname(at)) {
      syncAncestor(at);
      if (at === oldest) break;
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== "EEXIST") return unreadable(`cannot create ${directory}`, error, creationHint(directory, errno));
  }
  return ok(undefined);
}

/** A descriptor of the directory itself, checked on the descriptor: what was checked is what is used. */
function openDirectory(directory: string): Result<number, KronError> {
  let descriptor: number;
  try {
    descriptor = fs.openSync(directory, OPEN_DIRECTORY);
  } catch (error) {
    const isLinkOrFile = ["ELOOP", "ENOTDIR"].includes(errnoOf(error));
    return isLinkOrFile
      ? refuse(`${directory} is a link or not a directory`, "name the directory itself")
      : unreadable(`cannot open ${directory}`, error);
  }
  const checked = checkOwnerAndMode(directory, fs.fstatSync(descriptor), DIRECTORY_MODE);
  if (checked.ok) return ok(descriptor);
  fs.closeSync(descriptor);
  return checked;
}

/** Creates the directory when it is missing and opens it. The caller owns the descriptor. */
export function openPrivateDirectory(directory: string): Result<number, KronError> {
  const made = makeDirectory(directory);
  return made.ok ? openDirectory(directory) : made;
}

/**
 * What a state file is, once it is certain that it may be used; null when it does not exist. A second hard link counts
 * as a link: it would let a name elsewhere change our state.
 */
export function checkPrivateFile(file: string): Result<fs.Stats | null, KronError> {
  let stat: fs.Stats;
  try {
    stat = fs.lstatSync(file);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(null) : unreadable(`cannot look at ${file}`, error);
  }
  if (!stat.isFile()) return refuse(`${file} is not a regular file`);
  if (stat.nlink !== 1) return refuse(`${file} has ${stat.nlink} names, it must have one`);
  const checked = checkOwnerAndMode(file, stat, FILE_MODE);
  return checked.ok ? ok(stat) : checked;
}

/** Makes created and renamed names durable: without it a power cut may lose a file whose content was synced. */
export function syncDirectory(directory: string): void {
  const descriptor = fs.openSync(directory, OPEN_DIRECTORY);
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
