import type { CommandSpec } from "../../command.js";

export const VERIFY: CommandSpec = {
  name: "verify",
  summary: "recompute every decision found in a log or export",
  usage: "FILE",
  details: `
Finds every decision record in FILE (one JSON document, one JSON value a line, as logs and exports have them, or a log in
text form), computes it again from its own inputs, and names each field that comes out otherwise. Exits 2 if any differs.

  kron next prod/db-backup --at 2026-01-01T00:00:00Z --count 100 -o jsonl | kron verify -`,
  options: [],
};
