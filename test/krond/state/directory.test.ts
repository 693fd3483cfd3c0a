import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultStateDirectory } from "../../../src/krond/state/directory.js";

test.each<[title: string, env: Record<string, string>, isRoot: boolean, expected: string]>([
  ["STATE storage location: as root it is /var/lib/krond", { HOME: "/root" }, true, "/var/lib/krond"],
  ["whatever the environment says", { XDG_STATE_HOME: "/elsewhere" }, true, "/var/lib/krond"],
  ["S30: as a user it is in XDG_STATE_HOME", { XDG_STATE_HOME: "/u/state", HOME: "/u" }, false, "/u/state/krond"],
  ["S30: or in the home directory", { HOME: "/u" }, false, "/u/.local/state/krond"],
  ["an empty variable is none", { XDG_STATE_HOME: "", HOME: "/u" }, false, "/u/.local/state/krond"],
  ["without any variable the account's home", {}, false, join(homedir(), ".local/state/krond")],
])("%s", (_title, env, isRoot, expected) => {
  expect(defaultStateDirectory(env, isRoot)).toBe(expected);
});
