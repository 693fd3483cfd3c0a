/**
 * The code of a daemon, taken in part by part. What is imported together is evaluated in one turn of the loop: all of it
 * would take a tenth of a second, in which no signal is heard and nothing else goes on.
 */
import { turnOfLoop } from "../../../actors/turns.js";
import type { Run } from "../../command.js";

/** Those that take the most, the ones that others are made of first. What is missing here comes with `start.js`. */
const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import("zod/v4/core"),
  () => import("zod"),
  () => import("cron-parser"),
  () => import("temporal-polyfill"),
  () => import("../../../core/job/schema.js"),
  () => import("../../../machines/step.js"),
  () => import("../../../persist/lmdb/open.js"),
  () => import("../../../krond/log/logging.js"),
  () => import("../../../actors/supervisor/supervisor-actor.js"),
  () => import("../../../operations/endpoints/endpoints.js"),
  () => import("../../../actors/dispatcher/http-dispatcher.js"),
];

export async function loadStart(): Promise<Run> {
  for (const load of PARTS) {
    await load();
    await turnOfLoop();
  }
  const { run } = await import("./start.js");
  await turnOfLoop();
  return run;
}
