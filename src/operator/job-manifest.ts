/** The Job of an occasion: the template as it was written, made suspended, and marked so that anybody can see what for. */

import { ENGINE_VERSION } from "../core/base/version.js";
import { toDecisionRecord } from "../core/decision/record.js";
import { formatInstant } from "../core/time/instant.js";
import type { KronDefinition } from "./definition.js";
import { ANNOTATION, API_VERSION, GATE_READY, jobNameOf, KIND, KUEUE_LABEL, LABEL, labelTime } from "./identity.js";
import type { Job, JobTemplate, KronJob, Texts } from "./kube/types.js";
import { OPERATOR_LIMITS } from "./limits.js";
import type { Occasion } from "./plan/effects.js";

type NewJob = Pick<Job, "spec"> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Texts;
    readonly annotations: Texts;
    readonly ownerReferences: NonNullable<Job["metadata"]["ownerReferences"]>;
  };
};

interface ManifestInput {
  readonly kronJob: KronJob;
  readonly definition: KronDefinition;
  readonly occasion: Occasion;
  /** Version of the zone data that the decision was made with (S5). */
  readonly tzVersion: string;
}

/** READY: it does nothing before somebody releases exactly this Job, by its uid. */
export function gatedJob(input: ManifestInput): NewJob {
  const { kronJob, occasion } = input;
  const { jobTemplate } = kronJob.spec;
  const { metadata } = kronJob;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: jobNameOf(kronJob, occasion.source, occasion.periodId),
      namespace: metadata.namespace,
      labels: { ...withoutQueue(jobTemplate.metadata?.labels ?? {}), ...labelsOf(kronJob, occasion) },
      annotations: { ...jobTemplate.metadata?.annotations, ...annotationsOf(input) },
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: KIND,
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { ...jobTemplate.spec, suspend: true, template: markedPod(jobTemplate, occasion) },
  };
}

/** GO: what is still to be changed when it is released. Kueue takes over a Job that stays suspended. */
export function releaseOf({ metadata, spec }: JobTemplate): { readonly labels: Texts; readonly suspend: boolean } {
  const queue = metadata?.labels?.[KUEUE_LABEL];
  return queue === undefined
    ? { labels: {}, suspend: spec.suspend ?? false }
    : { labels: { [KUEUE_LABEL]: queue }, suspend: true };
}

function withoutQueue(labels: Texts): Texts {
  const { [KUEUE_LABEL]: _, ...rest } = labels;
  return rest;
}

function labelsOf({ metadata }: KronJob, { periodId, chosenAt }: Occasion): Texts {
  return {
    [LABEL.name]: metadata.name,
    [LABEL.periodId]: labelTime(periodId),
    [LABEL.chosenTime]: labelTime(formatInstant(chosenAt)),
  };
}

function annotationsOf(input: ManifestInput): Texts {
  const { kronJob, occasion } = input;
  const { source, periodId, chosenAt } = occasion;
  return {
    [ANNOTATION.gate]: GATE_READY,
    [ANNOTATION.generation]: String(kronJob.metadata.generation ?? 0),
    [ANNOTATION.periodId]: periodId,
    [ANNOTATION.chosenTime]: formatInstant(chosenAt),
    [ANNOTATION.scheduled]: formatInstant(chosenAt),
    ...(source === null ? {} : { [ANNOTATION.source]: source }),
    ...decisionNote(input),
  };
}

/** The record by which anybody can recompute the second; left out where constraints make it too long to carry along. */
function decisionNote({ definition, occasion, tzVersion }: ManifestInput): Texts {
  if (occasion.decision === null) return {};
  const versions = { tzVersion, engineVersion: ENGINE_VERSION };
  const text = JSON.stringify(toDecisionRecord(definition.compiled, occasion.decision, versions));
  return Buffer.byteLength(text) > OPERATOR_LIMITS.decisionBytes ? {} : { [ANNOTATION.decision]: text };
}

/** For the downward API: a container may learn which period it runs for. */
function markedPod(
  { spec }: JobTemplate,
  { periodId, nominalAt, chosenAt }: Occasion,
): JobTemplate["spec"]["template"] {
  const { template } = spec;
  return {
    ...template,
    metadata: {
      ...template.metadata,
      annotations: {
        ...template.metadata?.annotations,
        [ANNOTATION.periodId]: periodId,
        [ANNOTATION.nominalTime]: formatInstant(nominalAt),
        [ANNOTATION.chosenTime]: formatInstant(chosenAt),
      },
    },
  };
}
