import type { CommandSpec } from "../../command.js";

export const VERIFY: CommandSpec = {
  name: "verify",
  summary: "recompute every decision found in a log or export",
  usage: "FILE...",
  details: `
Finds every decision record in the files, computes it again from its own inputs, and names each field that comes out
otherwise. Exits 2 if any differs, or if there is none. A file is one JSON document, one JSON value a line, as logs,
'kron next' and 'kron history' print them, a log in text, or the ledger of an export.

Jobs of Kubernetes carry theirs as an annotation.

  kron next prod/db-backup --at 2026-01-01T00:00:00Z --count 100 -o jsonl | kron verify -
  krond state export ./copy && kron verify ./copy/ledger/*.jsonl
  kubectl get jobs -o json | kron verify -`,
  options: [],
};
