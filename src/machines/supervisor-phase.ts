/** What a phase of the daemon allows: the questions that everybody asks of the chart instead of remembering an answer. */
import type { SupervisorSnapshot } from "./supervisor.machine.js";

type Phase = Pick<SupervisorSnapshot, "value">;

/** What people who watch over the daemon are told (`/healthz`, `/readyz`). */
export type HealthPhase = "starting" | "running" | "reloading" | "draining" | "failed";

type PhaseName =
  | "booting"
  | "recovering"
  | "introducing"
  | "running"
  | "reloading"
  | "draining"
  | "closing"
  | "stopped"
  | "failed";

const HEALTH: Readonly<Record<PhaseName, HealthPhase>> = {
  booting: "starting",
  recovering: "starting",
  introducing: "starting",
  running: "running",
  reloading: "reloading",
  draining: "draining",
  closing: "draining",
  stopped: "draining",
  failed: "failed",
};

const SCHEDULING: ReadonlySet<PhaseName> = new Set(["introducing", "running", "reloading"]);
const HALTED: ReadonlySet<PhaseName> = new Set(["closing", "stopped", "failed"]);

/** Without the states within it. */
export function phaseName({ value }: Phase): PhaseName {
  return typeof value === "string" ? value : "booting" in value ? "booting" : "reloading";
}

/** With the states within it, as the log says it. */
export function phaseText({ value }: Phase): string {
  return typeof value === "string" ? value : Object.entries(value).flat().join(".");
}

/** Until then nobody reaches the daemon, and ending it takes nothing away from anybody. */
export function isStarting(phase: Phase): boolean {
  return HEALTH[phaseName(phase)] === "starting";
}

/** Jobs are woken when they are due. */
export function isScheduling(phase: Phase): boolean {
  return SCHEDULING.has(phaseName(phase));
}

/** Something may begin: a new gate, a run by hand, a reload. What was claimed before is released in any case. */
export function mayStart(phase: Phase): boolean {
  const name = phaseName(phase);
  return name !== "draining" && !HALTED.has(name);
}

/** Nothing is taken from any mailbox any more, and no gate is made or released. */
export function isHalted(phase: Phase): boolean {
  return HALTED.has(phaseName(phase));
}

/** Nothing comes after it. */
export function isOver(phase: Phase): boolean {
  const name = phaseName(phase);
  return name === "stopped" || name === "failed";
}

export function hasFailed({ value }: Phase): boolean {
  return value === "failed";
}

export function healthPhase(phase: Phase): HealthPhase {
  return HEALTH[phaseName(phase)];
}
