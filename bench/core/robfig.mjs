/**
 * Go's robfig/cron, measured when a Go toolchain is installed: from the distribution's own source package when it is
 * there, else as a module through the user's Go settings.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goVersion, pinned } from "../lib/measure.mjs";
import { EXPRESSIONS, starts, ZONES } from "./mix.mjs";

const DISTRIBUTION_PATH = "/usr/share/gocode";

/** Map from zone to rounds, or the reason why there are none. */
export function measureRobfig({ rounds, roundMs }) {
  if (goVersion() === null) return { reason: "no Go toolchain is installed" };
  const folder = mkdtempSync(join(tmpdir(), "kron-robfig-"));
  try {
    const binary = build(folder);
    const args = [EXPRESSIONS.join(";"), String(rounds), String(roundMs), Array.from(starts(512)).join(","), ...ZONES];
    const [command, all] = pinned(binary, args);
    const lines = execFileSync(command, all, { encoding: "utf8" }).trim().split("\n");
    return {
      zones: new Map(lines.map((line) => [line.split(" ")[0], line.split(" #")[0].split(" ").slice(1).map(Number)])),
    };
  } catch (error) {
    return {
      reason: String(error.stderr || error.message)
        .trim()
        .split("\n")
        .at(-1),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function build(folder) {
  const isDistribution = existsSync(`${DISTRIBUTION_PATH}/src/github.com/robfig/cron`);
  const importPath = isDistribution ? "github.com/robfig/cron" : "github.com/robfig/cron/v3";
  const template = readFileSync(new URL("./robfig.go.txt", import.meta.url), "utf8");
  writeFileSync(join(folder, "main.go"), template.replace("IMPORT_PATH", importPath));
  const settings = isDistribution ? { GO111MODULE: "off", GOPATH: DISTRIBUTION_PATH } : { GO111MODULE: "on" };
  const options = {
    cwd: folder,
    env: { ...process.env, GOFLAGS: "", GOCACHE: join(folder, "cache"), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  };
  if (!isDistribution) {
    writeFileSync(join(folder, "go.mod"), "module bench\n\ngo 1.19\n\nrequire github.com/robfig/cron/v3 v3.0.1\n");
    execFileSync("go", ["mod", "tidy"], options);
  }
  execFileSync("go", ["build", "-o", "bench", "main.go"], options);
  return join(folder, "bench");
}
