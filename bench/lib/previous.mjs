/** Another version of Kron, built, as a peer: `--against DIR` names where it lies. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const BUILT = ["dist/krond.js", "dist/kron.js", "src", "package.json"];

/** Its absolute path; throws with what is missing there. */
export function previousIn(directory) {
  const root = resolve(directory);
  const missing = BUILT.find((path) => !existsSync(join(root, path)));
  if (missing === undefined) return root;
  throw new Error(`${root} is no built copy of Kron: there is no ${missing}; run "npm ci && npm run build" in it`);
}

/** How it is called in the tables. */
export function previousName(root) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  try {
    const args = ["-C", root, "rev-parse", "--short=7", "HEAD"];
    const commit = execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    return `Kron ${version} (${commit})`;
  } catch {
    return `Kron ${version}, before`;
  }
}
