/** Tries to hold a directory, says how it went, and stays until its input ends or it is killed. */
import { spawn } from "node:child_process";
import { acquireDirectoryLock } from "../../../src/persist/lock.js";

const [directory = "", wantsChild = ""] = process.argv.slice(2);
const lock = acquireDirectoryLock(directory);
const child = wantsChild === "child" ? spawn("sleep", ["600"], { stdio: "ignore", detached: true }) : null;
process.stdout.write(`${JSON.stringify({ held: lock.ok ? "held" : lock.error.code, child: child?.pid ?? null })}\n`);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
