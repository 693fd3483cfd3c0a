/** The way in to the inspector stream: where nobody could look on, none of it is loaded. */
import type { Inspection, InspectionPorts } from "./inspection.js";
import type { InspectOptions } from "./sockets.js";

export type { Inspection } from "./inspection.js";
export type { InspectOptions } from "./sockets.js";

/** `own`: a port of its own; `hasDoors`: others bring onlookers in. */
export async function inspectionOf(
  { own, hasDoors }: { readonly own: InspectOptions | null; readonly hasDoors: boolean },
  ports: InspectionPorts,
): Promise<Inspection | null> {
  if (own === null && !hasDoors) return null;
  const { Inspection } = await import("./inspection.js");
  return new Inspection(own, ports);
}
