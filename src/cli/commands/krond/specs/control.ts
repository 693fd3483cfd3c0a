import type { CommandSpec } from "../../../command.js";
import { STATE_OPTION } from "../../../state-options.js";

export const STATUS: CommandSpec = {
  name: "status",
  summary: "ask the running daemon how it is",
  usage: "[OPTIONS]",
  details: `
Exits 0 when a daemon runs on the state directory, and 1 when none does.

  krond status --state /var/lib/krond`,
  options: [STATE_OPTION],
};

export const RELOAD: CommandSpec = {
  name: "reload",
  summary: "have the daemon read its configuration again",
  usage: "[OPTIONS]",
  details: `
Does what SIGHUP does and tells what has changed. An invalid job keeps the definition it has; then the exit code is 2.
'kron plan' tells beforehand.

  krond reload`,
  options: [STATE_OPTION],
};

export const STOP: CommandSpec = {
  name: "stop",
  summary: "stop the daemon and wait until it has ended",
  usage: "[OPTIONS]",
  details: `
Starts nothing any more and ends the daemon. Running jobs go on, and the next daemon finds them again; with --graceful
the daemon waits for them first.

  krond stop --graceful`,
  options: [STATE_OPTION, { name: "graceful", help: "wait until nothing runs any more" }],
};
