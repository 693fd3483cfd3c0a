import { ENGINE_VERSION } from "../../../core/version.js";
import type { Program } from "../../program.js";
import { START } from "./start.js";

export const KROND: Program = {
  name: "krond",
  summary: "krond: the daemon that runs jobs, at most once a period, and its controls.",
  version: ENGINE_VERSION,
  commands: [START],
};
