/** In a simulation every target is a process: what is called over HTTP takes its time and ends well or badly, too. */
import type { JobDefinition, ProcessTarget } from "../core/job/definition.js";
import type { Loaded } from "./scenario.js";

function processFor(definition: JobDefinition): ProcessTarget | null {
  const { target } = definition;
  if (target.kind === "process") return null;
  return {
    kind: "process",
    argv: ["/simulated/http"],
    shell: false,
    user: null,
    group: null,
    cwd: null,
    env: {},
    stdin: null,
    umask: null,
    timeoutMs: target.timeoutMs,
    output: { to: "discard", maxBytes: 1000, keep: 1, onExcess: "drop-middle" },
  };
}

export function simulable({ definitions, settings }: Loaded): Loaded {
  return {
    settings,
    definitions: definitions.map((definition) => {
      const target = processFor(definition);
      return target === null ? definition : { ...definition, target };
    }),
  };
}
