import { ENGINE_VERSION } from "../../../core/base/version.js";
import { lazily } from "../../command.js";
import type { Program } from "../../program.js";
import { KEYS } from "../specs/keys.js";
import { RELOAD, STATUS, STOP } from "./specs/control.js";
import { DOCTOR } from "./specs/doctor.js";
import { START } from "./specs/start.js";
import { STATE } from "./specs/state.js";

export const KROND: Program = {
  name: "krond",
  summary: "krond: the daemon that runs jobs, at most once a period, and its controls.",
  version: ENGINE_VERSION,
  commands: [
    lazily(START, async () => (await import("./load-start.js")).loadStart()),
    lazily(STATUS, async () => (await import("./control.js")).status),
    lazily(RELOAD, async () => (await import("./control.js")).reload),
    lazily(STOP, async () => (await import("./control.js")).stop),
    lazily(STATE, async () => (await import("./state.js")).run),
    lazily(KEYS, async () => (await import("../keys.js")).run),
    lazily(DOCTOR, async () => (await import("./doctor.js")).run),
  ],
};
