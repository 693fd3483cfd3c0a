/** The way in to the inspector stream: whoever does not ask for it loads none of it. */
import type { Inspection, InspectionPorts, InspectOptions } from "./inspection.js";

export type { Inspection, InspectOptions } from "./inspection.js";

export async function inspectionOf(options: InspectOptions | null, ports: InspectionPorts): Promise<Inspection | null> {
  if (options === null) return null;
  const { Inspection } = await import("./inspection.js");
  return new Inspection(options, ports);
}
