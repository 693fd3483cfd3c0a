/** The scheduler under test. */
import { createScheduler, memoryStore } from "../../../../src/scheduler/index.js";
import type { Subject } from "./world.js";

export const KRON: Subject = { create: createScheduler, memoryStore: () => memoryStore() };
