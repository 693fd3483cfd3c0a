import { ENGINE_VERSION } from "../../../core/base/version.js";
import type { Program } from "../../program.js";
import { RELOAD, STATUS, STOP } from "./control.js";
import { DOCTOR } from "./doctor.js";
import { START } from "./start.js";
import { STATE } from "./state.js";

export const KROND: Program = {
  name: "krond",
  summary: "krond: the daemon that runs jobs, at most once a period, and its controls.",
  version: ENGINE_VERSION,
  commands: [START, STATUS, RELOAD, STOP, STATE, DOCTOR],
};
