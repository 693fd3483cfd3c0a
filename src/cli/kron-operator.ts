#!/usr/bin/env node
/** The operator alone, for images: `kron-operator start` is `kron operator`, and loads no store. */
import { ENGINE_VERSION } from "../core/base/version.js";
import { lazily } from "./command.js";
import { OPERATOR } from "./commands/specs/operator.js";
import { endAtOnce, main } from "./main.js";

const PROGRAM = {
  name: "kron-operator",
  summary: "kron-operator: runs KronJobs on Kubernetes, at most one Job a period.",
  version: ENGINE_VERSION,
  commands: [lazily({ ...OPERATOR, name: "start" }, async () => (await import("./commands/operator.js")).run)],
};

main(PROGRAM, endAtOnce);
