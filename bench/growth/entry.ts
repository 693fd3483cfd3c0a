/** What the benchmark of growth needs of Kron, bundled where it runs. */
export { Timeline } from "../../src/actors/timeline.js";
export { compileRule } from "../../src/core/decision/compile.js";
export { decide } from "../../src/core/decision/decide.js";
export { readJobDefinition } from "../../src/core/job/schema.js";
export { planOnReturn } from "../../src/core/period/periods.js";
export { newDocument } from "../../src/core/state/document.js";
export { serialiseDocument } from "../../src/core/state/serialise.js";
export { documentKey } from "../../src/persist/keys.js";
export { openLmdbStore } from "../../src/persist/lmdb/open.js";
export { acquireDirectoryLock } from "../../src/persist/lock.js";
export { createScheduler, memoryStore } from "../../src/scheduler/index.js";
