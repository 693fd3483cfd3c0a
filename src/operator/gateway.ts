/**
 * Effects as requests, and answers as results. A refusal that can be acted upon is a result; an answer that was lost, and
 * trouble that will pass, are thrown: what became of the request is then not known, and only a new look can tell.
 */
import type { Clock } from "../actors/clock.js";
import { isPast } from "../core/period/lateness.js";
import { readKronJob } from "./definition.js";
import { ANNOTATION, GROUP, PLURAL, TEMPLATE_CHECK, VERSION } from "./identity.js";
import { gatedJob, releaseOf } from "./job-manifest.js";
import { viewOf } from "./job-view.js";
import type { KubeClient } from "./kube/client.js";
import { ApiFailure } from "./kube/failure.js";
import type { Job, KronJob } from "./kube/types.js";
import { mergePatch } from "./merge-patch.js";
import type { Effect, EffectResult, Occasion } from "./plan/effects.js";

export class KubeGateway {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #tzVersion: string;

  constructor(client: KubeClient, clock: Clock, tzVersion: string) {
    this.#client = client;
    this.#clock = clock;
    this.#tzVersion = tzVersion;
  }

  /** null: it is not there. */
  async readKronJob(namespace: string, name: string): Promise<KronJob | null> {
    const path = kronJobPath(namespace, name);
    try {
      return await this.#client.send<KronJob>({ method: "GET", path, operation: `get ${PLURAL}.${GROUP}`, namespace });
    } catch (error) {
      if (error instanceof ApiFailure && error.isGone) return null;
      throw error;
    }
  }

  perform(effect: Effect, kronJob: KronJob): Promise<EffectResult> {
    switch (effect.type) {
      case "lookUp":
        return this.#lookUp(kronJob, effect.name);
      case "checkTemplate":
        return this.#checkTemplate(kronJob);
      case "createGate":
        return this.#create(kronJob, effect.occasion, null);
      case "writeStatus":
        return this.#writeStatus(kronJob, effect);
      case "go":
        return this.#go(kronJob, effect);
      case "deleteJob":
        return this.#delete(kronJob, effect);
      case "tell":
        return Promise.resolve({ kind: "done" });
    }
  }

  async #lookUp({ metadata }: KronJob, name: string): Promise<EffectResult> {
    const path = jobPath(metadata.namespace, name);
    try {
      return jobResult(
        await this.#client.send<Job>({
          method: "GET",
          path,
          operation: "get jobs.batch",
          namespace: metadata.namespace,
        }),
      );
    } catch (error) {
      if (error instanceof ApiFailure && error.isGone) return { kind: "gone" };
      throw error;
    }
  }

  /** The very Job that would be made, as far as the API server is concerned; nothing is. */
  async #checkTemplate(kronJob: KronJob): Promise<EffectResult> {
    const at = 0;
    const periodId = TEMPLATE_CHECK;
    const occasion: Occasion = { source: TEMPLATE_CHECK, periodId, nominalAt: at, chosenAt: at, decision: null };
    const result = await this.#create(kronJob, occasion, "All");
    // That there is no room now says nothing about the template.
    return result.kind === "refused" && result.code === "job-quota" ? { kind: "done" } : result;
  }

  async #create(kronJob: KronJob, occasion: Occasion, dryRun: "All" | null): Promise<EffectResult> {
    const definition = readKronJob(kronJob);
    if (!definition.ok) throw new Error("invariant broken: a Job for a spec that cannot be read");
    const body = gatedJob({ kronJob, definition: definition.value, occasion, tzVersion: this.#tzVersion });
    try {
      const job = await this.#client.send<Job>({
        method: "POST",
        path: jobsPath(kronJob.metadata.namespace),
        query: { fieldValidation: "Strict", ...(dryRun === null ? {} : { dryRun }) },
        body,
        operation: "create jobs.batch",
        namespace: kronJob.metadata.namespace,
      });
      return jobResult(job);
    } catch (error) {
      return creationRefusal(error);
    }
  }

  async #writeStatus(
    kronJob: KronJob,
    { status }: Extract<Effect, { readonly type: "writeStatus" }>,
  ): Promise<EffectResult> {
    const { namespace, name, resourceVersion } = kronJob.metadata;
    const patch = mergePatch({ ...kronJob.status }, { ...status });
    try {
      const written = await this.#client.send<KronJob>({
        method: "PATCH",
        path: `${kronJobPath(namespace, name)}/status`,
        body: { metadata: { resourceVersion }, status: patch ?? {} },
        operation: `patch ${PLURAL}.${GROUP}/status`,
        namespace,
      });
      return { kind: "kronJob", kronJob: written };
    } catch (error) {
      return this.#writeRefusal(error, "status-refused");
    }
  }

  async #go(
    kronJob: KronJob,
    { name, uid, startByAt }: Extract<Effect, { readonly type: "go" }>,
  ): Promise<EffectResult> {
    if (isPast(startByAt, this.#clock.now())) return { kind: "late" };
    const { labels, suspend } = releaseOf(kronJob.spec.jobTemplate);
    try {
      const job = await this.#client.send<Job>({
        method: "PATCH",
        path: jobPath(kronJob.metadata.namespace, name),
        body: { metadata: { uid, labels, annotations: { [ANNOTATION.gate]: null } }, spec: { suspend } },
        operation: "patch jobs.batch",
        namespace: kronJob.metadata.namespace,
      });
      return jobResult(job);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const isInvalid = error.answer.status === 422 || error.isConflict;
      if (!isInvalid) return this.#writeRefusal(error, "job-refused");
      // A uid cannot be changed: that is how the API server says that this is another Job.
      const found = await this.#lookUp(kronJob, name);
      if (found.kind !== "job" || found.job.uid !== uid) return { kind: "gone" };
      return error.isConflict ? { kind: "conflict" } : this.#writeRefusal(error, "job-refused");
    }
  }

  async #delete(
    kronJob: KronJob,
    { name, uid, resourceVersion, propagation }: Extract<Effect, { readonly type: "deleteJob" }>,
  ): Promise<EffectResult> {
    const preconditions = { uid, ...(resourceVersion === null ? {} : { resourceVersion }) };
    try {
      await this.#client.send<unknown>({
        method: "DELETE",
        path: jobPath(kronJob.metadata.namespace, name),
        body: { apiVersion: "v1", kind: "DeleteOptions", preconditions, propagationPolicy: propagation },
        operation: "delete jobs.batch",
        namespace: kronJob.metadata.namespace,
      });
      return { kind: "done" };
    } catch (error) {
      return this.#writeRefusal(error, "job-refused");
    }
  }

  #writeRefusal(error: unknown, code: "status-refused" | "job-refused"): EffectResult {
    if (!(error instanceof ApiFailure)) throw error;
    if (error.isGone) return { kind: "gone" };
    if (error.isConflict) return { kind: "conflict" };
    if (error.answer.status === 422 || error.answer.status === 400) {
      return { kind: "refused", code, message: error.answer.message };
    }
    // Too few rights to write the status: there is nowhere to say so, and no point in going on.
    if (error.answer.status !== 403 || code === "status-refused") throw error;
    return error.isRightMissing
      ? { kind: "refused", code: "cluster-forbidden", message: error.message }
      : { kind: "refused", code, message: error.answer.message };
  }
}

/** S24: understood, and not granted. Everything else may have happened or may yet. */
function creationRefusal(error: unknown): EffectResult {
  if (!(error instanceof ApiFailure)) throw error;
  const { status, reason, message } = error.answer;
  if (status === 409 && reason === "AlreadyExists") return { kind: "exists" };
  if (error.isRightMissing) return { kind: "refused", code: "cluster-forbidden", message: error.message };
  if (status === 403 && message.includes("exceeded quota")) return { kind: "refused", code: "job-quota", message };
  const isRefused = status === 400 || status === 403 || status === 404 || status === 422;
  if (isRefused) return { kind: "refused", code: "job-refused", message };
  throw error;
}

function jobResult(job: Job): EffectResult {
  return { kind: "job", job: viewOf(job), isSuspended: job.spec.suspend === true };
}

function jobsPath(namespace: string): string {
  return `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`;
}

function jobPath(namespace: string, name: string): string {
  return `${jobsPath(namespace)}/${encodeURIComponent(name)}`;
}

export function kronJobPath(namespace: string, name: string): string {
  return `/apis/${GROUP}/${VERSION}/namespaces/${encodeURIComponent(namespace)}/${PLURAL}/${encodeURIComponent(name)}`;
}
