/** What the benchmark of the pool needs of Kron, bundled where it runs. */
export { createDecisionPool } from "../../src/actors/pool/decision-pool.js";
export { Threads } from "../../src/actors/pool/threads.js";
export { compileRule } from "../../src/core/decision/compile.js";
export { sha256Hex } from "../../src/core/decision/seed.js";
export { canonicalDefinitionText, canonicalRuleText, readJobDefinition } from "../../src/core/job/schema.js";
export { currentPeriod } from "../../src/core/period/periods.js";
export { newDocument } from "../../src/core/state/document.js";
export { serialiseDocument } from "../../src/core/state/serialise.js";
export { formatInstant } from "../../src/core/time/instant.js";
export { DEFINITION_READER } from "../../src/persist/definition-reader.js";
export { documentKey } from "../../src/persist/keys.js";
export { openLmdbStore } from "../../src/persist/lmdb/open.js";
export { acquireDirectoryLock } from "../../src/persist/lock.js";
export { decideMany } from "./deciding.js";
