import { defineConfig } from "tsup";

/**
 * One ESM bundle with shared chunks. Runtime dependencies stay external, because each ships its own
 * native or worker files; the deterministic maths of @stdlib is bundled, so that users install nothing for it.
 */
export default defineConfig({
  entry: {
    index: "src/index.ts",
    scheduler: "src/scheduler/index.ts",
    testing: "src/scheduler/testing/index.ts",
    worker: "src/api/worker/index.ts",
    kron: "src/cli/kron.ts",
    krond: "src/cli/krond.ts",
    "kron-operator": "src/cli/kron-operator.ts",
    "kubectl-kron": "src/cli/kubectl-kron.ts",
    "decision-worker": "src/actors/pool/thread/worker.ts",
    "launcher-process": "src/actors/launcher/child/process.ts",
  },
  format: ["esm"],
  target: "node20",
  platform: "node",
  splitting: true,
  clean: true,
  sourcemap: true,
  noExternal: [/^@stdlib\//],
});
