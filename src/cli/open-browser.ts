/**
 * Opens a link in the browser of whoever sits in front of this machine. What stands in a command line everybody here can read,
 * and the link logs in: so the browser is given a file that nobody else reads, and that leads there. It lies where a desktop
 * session keeps what ends with it.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { CliIo } from "./io.js";

const OPENER = "xdg-open";

/** False: there is no terminal, no desktop, or nothing that opens anything. */
export function openInBrowser(url: string, { env, isOutTerminal }: Pick<CliIo, "env" | "isOutTerminal">): boolean {
  const folder = env["XDG_RUNTIME_DIR"] ?? "";
  const hasDesktop = (env["WAYLAND_DISPLAY"] ?? "") !== "" || (env["DISPLAY"] ?? "") !== "";
  const opener = programOn(env["PATH"] ?? "");
  if (!isOutTerminal || !hasDesktop || folder === "" || opener === null) return false;
  const file = path.join(folder, "kron-open.html");
  try {
    // A file of before may have been left by somebody else, and keeps its mode when it is written again.
    fs.rmSync(file, { force: true });
    fs.writeFileSync(file, pageLeadingTo(url), { mode: 0o600, flag: "wx" });
  } catch {
    return false;
  }
  // Whether it finds a browser is its own affair: the link was printed.
  spawn(opener, [file], { detached: true, stdio: "ignore", env: { ...env } })
    .on("error", () => undefined)
    .unref();
  return true;
}

function programOn(folders: string): string | null {
  const files = folders.split(path.delimiter).map((folder) => path.join(folder, OPENER));
  return files.find((file) => path.isAbsolute(file) && fs.existsSync(file)) ?? null;
}

function pageLeadingTo(url: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Kron</title><meta http-equiv="refresh" content="0;url=${url}">\n`;
}
