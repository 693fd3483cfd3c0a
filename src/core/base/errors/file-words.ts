/** Why a file cannot be had, in words: what the system says of it begins with a name that is for programs. */
import { messageOf } from "./message.js";

const WORDS: ReadonlyMap<unknown, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["ENOTDIR", "a part of its path is no directory"],
  ["EISDIR", "it is a directory"],
  ["EACCES", "permission denied"],
  ["EPERM", "the system does not permit it"],
  ["EEXIST", "it is there already"],
  ["ELOOP", "its links lead round in a circle"],
  ["ENAMETOOLONG", "its name is too long"],
  ["EMFILE", "too many files are open"],
  ["ENFILE", "too many files are open"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EROFS", "the file system is read-only"],
]);

/** What is none of these says it in its own words. */
export function fileWords(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
  return WORDS.get(code) ?? messageOf(error);
}
