/** What the daemon itself needs to know about users and groups, before it has a launcher to ask. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";

const LARGEST_ID = 4_294_967_294;
const HELPER_MS = 10_000;

/** The number of a user, given by name or number; null when there is no such user. */
export function userIdOf(name: string): number | null {
  if (/^\d{1,10}$/.test(name)) return Number(name) <= LARGEST_ID ? Number(name) : null;
  const listed = entriesOf("passwd").find(([login]) => login === name)?.[2];
  if (listed !== undefined) return Number(listed);
  if (!/^[^-:\s\p{Cc}][^:\s\p{Cc}]{0,255}$/u.test(name)) return null;
  // Users that stand in no file: directories of a company.
  const { status, stdout } = spawnSync("id", ["-u", "--", name], { encoding: "utf8", timeout: HELPER_MS });
  const uid = /^\d+$/.exec(stdout?.trim() ?? "")?.[0];
  return status === 0 && uid !== undefined ? Number(uid) : null;
}

/**
 * The group that is a user's alone, as many systems make one with every user: nobody else has it for a first group, and
 * nobody else is a member. Null when the files cannot show that.
 */
export function privateGroupOf(uid: number): number | null {
  const users = entriesOf("passwd");
  const [name, , , gid] = users.find(([, , id]) => Number(id) === uid) ?? [];
  const group = entriesOf("group").find(([, , id]) => id === gid);
  if (name === undefined || group === undefined) return null;
  const members = (group[3] ?? "").split(",").filter((member) => member !== "" && member !== name);
  const isShared = members.length > 0 || users.some(([other, , , first]) => first === gid && other !== name);
  return isShared ? null : Number(gid);
}

function entriesOf(database: "passwd" | "group"): readonly (readonly string[])[] {
  try {
    const lines = fs.readFileSync(`/etc/${database}`, "utf8").split("\n");
    return lines.filter((line) => line.includes(":")).map((line) => line.split(":"));
  } catch {
    return [];
  }
}
