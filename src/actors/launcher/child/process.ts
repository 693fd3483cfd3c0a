/**
 * The launcher process: small, so that forking it is cheap, and with nothing open that a job could inherit. It lives as
 * long as its line to the daemon. Entry of `dist/launcher-process.js`; descriptor 3 is that line.
 */
import * as net from "node:net";
import { type DaemonFrame, encodeFrame, FrameReader, type LauncherFrame, PROTOCOL_VERSION } from "../protocol.js";
import { closeInheritable } from "./descriptors.js";
import { Gatekeeper } from "./gatekeeper.js";
import { LAUNCHER_LIMITS } from "./limits.js";

const DAEMON_LINE = 3;
/** For the last two Node would open a debugger's port, or end. */
const HARMLESS_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

function main(): void {
  // Before anything else, so that no process of ours ever sees what was not meant for it (S34).
  closeInheritable(DAEMON_LINE);
  // What ends the daemon's terminal or service does not end its gates half-way: the end of the line does.
  for (const signal of HARMLESS_SIGNALS) process.on(signal, () => undefined);
  serve(new net.Socket({ fd: DAEMON_LINE, readable: true, writable: true }));
}

function serve(line: net.Socket): void {
  const reader = new FrameReader<DaemonFrame>();
  let outgoing = "";
  const flush = () => {
    if (line.writable) line.write(outgoing);
    outgoing = "";
  };
  // One write for all that is said in a turn: of a thousand starts each write alone would wake the daemon.
  const say = (frame: LauncherFrame) => {
    if (outgoing === "") setImmediate(flush);
    outgoing += encodeFrame(frame);
  };
  const gatekeeper = new Gatekeeper(say);
  const leave = () => {
    setTimeout(() => process.exit(0), LAUNCHER_LIMITS.leaveMs);
    void gatekeeper.close().then(() => process.exit(0));
  };
  line.on("data", (chunk) => {
    for (const frame of reader.push(chunk)) {
      if (frame.t === "hello") assertVersion(frame.version);
      gatekeeper.handle(frame);
    }
  });
  line.on("error", () => undefined);
  line.on("close", leave);
  say({ t: "hello", version: PROTOCOL_VERSION, pid: process.pid, maxArmed: gatekeeper.maxArmed });
}

/** The program was replaced on disk while the daemon ran: it has to be started again. */
function assertVersion(version: number): void {
  if (version === PROTOCOL_VERSION) return;
  throw new Error(`the daemon speaks version ${version}, this launcher ${PROTOCOL_VERSION}`);
}

main();
