/** Who is told what happened. The controller does not care who listens. */
import type { KronJob } from "./kube/types.js";
import type { News } from "./plan/news.js";

/** By what a KronJob is known where the object is not at hand. */
export interface Subject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Reporter {
  news(kronJob: KronJob, news: News): void;
  /** A look that failed: it is tried again. */
  trouble(subject: Subject, error: unknown, operation: string): void;
  conflict(subject: Subject): void;
  looked(seconds: number): void;
  watchTrouble(resource: string, error: unknown, restart: "relist" | "resume"): void;
  /** The Lease could not be used: nobody is told to act first, and everybody acts a little later. */
  leaseTrouble(error: unknown): void;
  /** Kubernetes Events were not taken. */
  eventTrouble(error: unknown): void;
  /** The API server's clock less ours. */
  clockSkew(skewMs: number): void;
  clockJump(jumpMs: number): void;
}

/** One after the other. */
export function reporters(all: readonly Reporter[]): Reporter {
  return {
    news: (kronJob, news) => all.forEach((one) => void one.news(kronJob, news)),
    trouble: (subject, error, operation) => all.forEach((one) => void one.trouble(subject, error, operation)),
    conflict: (subject) => all.forEach((one) => void one.conflict(subject)),
    looked: (seconds) => all.forEach((one) => void one.looked(seconds)),
    watchTrouble: (resource, error, restart) => all.forEach((one) => void one.watchTrouble(resource, error, restart)),
    leaseTrouble: (error) => all.forEach((one) => void one.leaseTrouble(error)),
    eventTrouble: (error) => all.forEach((one) => void one.eventTrouble(error)),
    clockSkew: (skewMs) => all.forEach((one) => void one.clockSkew(skewMs)),
    clockJump: (jumpMs) => all.forEach((one) => void one.clockJump(jumpMs)),
  };
}
