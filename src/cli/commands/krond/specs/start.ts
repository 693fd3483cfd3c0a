import { CONFIG_OPTION } from "../../../args.js";
import type { CommandSpec } from "../../../command.js";
import { STATE_OPTION } from "../../../state-options.js";
import { LEASE_OPTION, NODE_OPTIONS, STORE_OPTIONS } from "../../../store-words.js";

export const START: CommandSpec = {
  name: "start",
  summary: "run the daemon in the foreground",
  usage: "[OPTIONS]",
  details: `
Runs the daemon in the foreground, its log on standard output. SIGHUP reads the configuration again, SIGTERM and SIGINT
stop it: running jobs go on and are found again by the next start. A second signal stops at once, a second SIGINT after a
second: npm and the like send one press of Ctrl-C twice.

  krond start --config /etc/krond.d --state /var/lib/krond
  krond start --store postgres://krond@db.example/kron --store-password-file /etc/krond.password
  krond start --store postgres://krond@db.example/kron --node db1 --pools gpu`,
  options: [
    CONFIG_OPTION,
    { name: "crontab", value: "FILE", help: "run the jobs of a crontab too" },
    STATE_OPTION,
    ...STORE_OPTIONS,
    LEASE_OPTION,
    ...NODE_OPTIONS,
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
      name: "api",
      value: "[HOST:]PORT",
      help: "serve the HTTP API there, or at unix:PATH (default: nowhere)",
    },
    { name: "api-tls", value: "CERT,KEY", help: "serve it with TLS, from these files in PEM form" },
    {
      name: "api-behind-proxy",
      value: "NAME,...",
      help: "a proxy does TLS, and is known by these names: serve beyond this machine without",
    },
    { name: "api-rate", value: "N", help: "requests a second of a key that has no rate of its own (default: 50)" },
    {
      name: "web",
      value: "[[HOST:]PORT]",
      bare: "",
      help: "serve the page for people there, with the API (default: nowhere; without PORT: 7070); see kron open",
    },
    {
      name: "planner",
      value: "off|rules|chat",
      help: "who looks at endpoints that do not say it (default: off)",
    },
    { name: "planner-chat", value: "URL", help: "the model of 'chat': what stands before /chat/completions" },
    { name: "planner-model", value: "NAME", help: "which model; needed with --planner-chat" },
    { name: "planner-key-file", value: "FILE", help: "the file that holds the model's key" },
    { name: "planner-key-env", value: "NAME", help: "the environment variable that holds the model's key" },
    { name: "planner-allow-private", help: "the model may be on this machine or a private network" },
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
