import { CONFIG_OPTION } from "../../../args.js";
import type { CommandSpec } from "../../../command.js";
import { STATE_OPTION } from "../../../state-options.js";

export const START: CommandSpec = {
  name: "start",
  summary: "run the daemon in the foreground",
  usage: "[OPTIONS]",
  details: `
Runs the daemon in the foreground, its log on standard output. SIGHUP reads the configuration again, SIGTERM and SIGINT
stop it: running jobs go on and are found again by the next start. A second signal stops at once, a second SIGINT after a
second: npm and the like send one press of Ctrl-C twice.

  krond start --config /etc/krond.d --state /var/lib/krond`,
  options: [
    CONFIG_OPTION,
    { name: "crontab", value: "FILE", help: "run the jobs of a crontab too" },
    STATE_OPTION,
    { name: "store", value: "lmdb|files", help: "how state is kept (default: lmdb)" },
    {
      name: "log-format",
      value: "text|json|journal",
      help: "form of the log (default: text on a terminal, else json); journal: text for systemd",
    },
    { name: "metrics", value: "[HOST:]PORT", help: "serve /metrics, /healthz and /readyz there (default: nowhere)" },
    {
      name: "metrics-jobs",
      value: "GLOB,...",
      help: "give these jobs metrics of their own, such as prod/* (default: none)",
    },
    {
      name: "inspect",
      value: "[[HOST:]PORT]",
      bare: "0",
      help: "let XState inspectors attach there by WebSocket (default: nowhere; without PORT: a free one)",
    },
    { name: "inspect-origin", value: "ORIGIN,...", help: "let web pages of these origins attach too" },
    {
      name: "cgroup-root",
      value: "DIR",
      help: "make a cgroup v2 group for each run there (default: our own, if systemd delegates it)",
    },
    { name: "allow-private", help: "let requests go to this machine and to private networks (default: public only)" },
    { name: "allow", value: "ADDRESS,...", help: "let requests go to these addresses and networks too" },
    { name: "trust-owner", value: "USER,...", help: "believe configuration files of these users too" },
  ],
};
