/** Brings the jobs of all files together: an identity belongs to one job (S37), and there is a most that is accepted. */

import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { quote } from "../job/issues.js";
import type { LocatedJob, LocatedProblem, Place } from "./located.js";

export class JobCollector {
  readonly #jobs = new Map<string, LocatedJob>();
  readonly #limit: number;
  #isFull = false;

  constructor(limit: number = LIMITS.jobs) {
    this.#limit = limit;
  }

  get jobs(): readonly LocatedJob[] {
    return [...this.#jobs.values()];
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** The job with this identity, as it was first seen. */
  find(identity: string): LocatedJob | undefined {
    return this.#jobs.get(identity);
  }

  /** Takes a job, or says why not. That there are too many is said once. */
  add(job: LocatedJob): LocatedProblem | null {
    const { identity } = job.definition;
    const earlier = this.#jobs.get(identity);
    if (earlier !== undefined) return problemOfJob(identity, job, repeatedIdentity(identity, earlier));
    if (this.#jobs.size >= this.#limit) {
      if (this.#isFull) return null;
      this.#isFull = true;
      return problemOfJob(identity, job, tooManyJobs(this.#limit));
    }
    this.#jobs.set(identity, job);
    return null;
  }
}

export function repeatedIdentity(identity: string, { file, line, column }: Place): Problem {
  const message = `the identity ${quote(identity)} is already used at ${file}:${line}:${column}`;
  return { code: "identity-duplicate", message, path: ["identity"] };
}

export function tooManyJobs(limit: number): Problem {
  return { code: "limit-exceeded", message: `more than ${limit} jobs`, path: [] };
}

export function problemOfJob(identity: string, { file, line, column }: Place, problem: Problem): LocatedProblem {
  return { problem, file, line, column, length: 1, identity };
}
