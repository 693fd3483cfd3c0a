import { CRONTAB_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";
import { STORE_OPTIONS } from "../../store-words.js";

export const DEFAULT_WAIT = "60s";

export const APPLY: CommandSpec = {
  name: "apply",
  summary: "tell the nodes that share a database what is to run",
  usage: "FILE|DIR... [OPTIONS]",
  details: `
Reads job files as 'krond start' does, shows what changes as 'kron plan' does, and writes all of it into the database in one
transaction: every node puts it in force. The files are the whole configuration; what they do not name is removed. Nothing is
changed where anything in them is wrong. Then it waits until all nodes have it.

A job that changes its node or its pool is taken out first and put in again when its node has let go and nothing of it runs; if
that is not so within --wait it stays where it is.

Exits 1 where something is not in force in time or has stayed, 2 where the configuration is wrong, 4 where a daemon is alone with
the database. docs/cluster.md says more.

  kron apply --store postgres://krond@db.example/kron --dry-run jobs/
  kron apply --state /var/lib/krond /etc/krond.d`,
  options: [
    STATE_OPTION,
    ...STORE_OPTIONS,
    CRONTAB_OPTION,
    { name: "dry-run", help: "only show what would change" },
    {
      name: "wait",
      value: "DURATION",
      help: `how long to wait for the nodes (default: ${DEFAULT_WAIT}; 0s: not at all)`,
    },
    { name: "trust-owner", value: "USER,...", help: "believe configuration files of these users too" },
    { name: "allow-private", help: "requests may go to private networks: the nodes are started with --allow-private" },
    { name: "allow", value: "ADDRESS,...", help: "and to these addresses: the nodes are started with --allow" },
  ],
};
