import { test } from "vitest";
import { memoryStore } from "../../../src/scheduler/index.js";
import { checkModel, tracesOf } from "./support/model.js";
import { createNaiveScheduler } from "./support/naive-scheduler.js";
import { THEMES } from "./support/scenario.js";
import type { Subject } from "./support/world.js";

const NAIVE: Subject = { create: createNaiveScheduler, memoryStore: () => memoryStore() };
const THEME_NAMES = Object.keys(THEMES) as (keyof typeof THEMES)[];

test.each(THEME_NAMES)(
  "the checker accepts a second, unrelated scheduler: %s",
  { timeout: 3_600_000 },
  async (theme) => {
    await checkModel("naive scheduler", NAIVE, theme, 20265, tracesOf(100));
  },
);
