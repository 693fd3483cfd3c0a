import type { CommandSpec } from "../../command.js";

export const VERIFY: CommandSpec = {
  name: "verify",
  summary: "recompute every decision found in a log or export",
  usage: "FILE",
  details: `
Finds every decision record in FILE (one JSON document, or one JSON value a line, as logs and exports have them),
computes it again from its own inputs, and names each field that comes out otherwise. Exits 2 if any differs.

Jobs of Kubernetes carry theirs as an annotation.

  kron next prod/db-backup --at 2026-01-01T00:00:00Z --count 100 -o jsonl | kron verify -
  kubectl get jobs -o json | kron verify -`,
  options: [],
};
