/**
 * Logs to standard output as told, and reports on descriptor 3. Runs as a process of its own: what is tested is what
 * becomes of it when its log goes wrong.
 */
import { writeSync } from "node:fs";
import { createLog, type LogFormat } from "../../../src/krond/log/logging.js";
import { descriptorSink } from "../../../src/krond/log/sink.js";

const [format = "json", then = "exit", count = "100"] = process.argv.slice(2);
const log = createLog({ format: format as LogFormat, sink: descriptorSink(1), now: () => Date.now() });

function tell(word: string): void {
  writeSync(3, `${word} ${log.lostLines}\n`);
}

function write(from: number, lines: number): void {
  for (let line = from; line < from + lines; line++)
    log.daemon({ at: 0, event: "resumed", component: "scheduler", level: "info", fields: { identity: `job/${line}` } });
}

process.on("SIGHUP", () => {
  write(Number(count), 1);
  tell("hup");
});

write(0, Number(count));
if (then === "kill") process.kill(process.pid, "SIGKILL");
tell("done");
if (then === "wait") process.stdin.on("data", () => write(1_000_000, 1)).on("end", () => tell("end"));
if (then === "hup") setInterval(() => undefined, 1000);
