/** The parts of Kubernetes objects that the operator reads or writes. What is not named here passes through untouched. */

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export type Texts = Readonly<Record<string, string>>;

interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface JobTemplate {
  readonly metadata?: { readonly labels?: Texts; readonly annotations?: Texts };
  readonly spec: JobSpec;
}

interface JobSpec {
  readonly suspend?: boolean;
  readonly template: {
    readonly metadata?: { readonly labels?: Texts; readonly annotations?: Texts };
    readonly spec: Readonly<Record<string, unknown>>;
  };
  readonly [field: string]: unknown;
}

export interface KronJobSpec {
  readonly schedule: string;
  readonly timezone?: string;
  readonly window?: { readonly mode?: string; readonly duration?: string };
  readonly distribution?: { readonly name?: string; readonly params?: Readonly<Record<string, unknown>> };
  readonly seed?: { readonly strategy?: string; readonly salt?: string };
  readonly constraints?: { readonly only?: readonly string[]; readonly avoid?: readonly string[] };
  readonly dst?: { readonly gap?: string; readonly overlap?: string };
  readonly policy?: {
    readonly concurrency?: string;
    readonly deadline?: string;
    readonly suspend?: boolean;
    readonly maxActive?: number;
  };
  /** A CronJob's names for the same. */
  readonly timeZone?: string;
  readonly concurrencyPolicy?: string;
  readonly startingDeadlineSeconds?: number;
  readonly suspend?: boolean;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
  readonly jobTemplate: JobTemplate;
}

/** A Job that was claimed and has not been seen to end. */
export interface ActiveJob {
  readonly uid: string;
  readonly name: string;
  readonly periodID: string;
  readonly chosenTime: string;
  readonly startedAt: string;
  /** S20: the last second in which it may be released. */
  readonly startBy: string;
  /** S40: absent for the KronJob's own periods. */
  readonly source?: string;
}

export interface HistoryItem {
  readonly periodID: string;
  readonly outcome: string;
  readonly reason?: string;
  readonly chosenTime?: string;
  readonly startedAt?: string;
  readonly completedAt: string;
  readonly result?: string;
  readonly job?: string;
  readonly source?: string;
}

/** S13, S17: periods that got no outcome because nobody was there, or because of a pause. */
interface NotEvaluated {
  readonly count: number;
  /** Whether there may be more than `count`. */
  readonly atLeast?: boolean;
  readonly firstPeriodID: string;
  readonly lastPeriodID: string;
  readonly notedAt: string;
  /** Why; absent: nobody was there. */
  readonly reason?: string;
}

/** S17: as the annotation says it, once it was seen. */
export interface PauseStatus {
  readonly until: string;
  readonly reason: string;
  /** Absent: it was asked for while nobody looked. */
  readonly since?: string;
}

export interface KronJobStatus {
  readonly observedGeneration?: number;
  readonly definedAt?: string;
  readonly definitionHash?: string;
  readonly carriedPeriodID?: string;
  readonly pause?: PauseStatus;
  /** S17: what was due before was passed over in a pause. */
  readonly evaluatesFrom?: string;
  readonly window?: string;
  readonly suspended?: boolean;
  readonly lastPeriodID?: string;
  readonly lastNominalTime?: string;
  readonly lastChosenTime?: string;
  readonly lastStartTime?: string;
  readonly lastOutcome?: string;
  readonly lastReason?: string;
  readonly lastSeedHash?: string;
  readonly lastSuccessfulTime?: string;
  readonly nextPeriodID?: string;
  readonly nextNominalTime?: string;
  readonly nextWindowStart?: string;
  readonly nextChosenTime?: string;
  readonly activeCount?: number;
  readonly lastSlot?: Texts;
  readonly active?: readonly ActiveJob[];
  readonly history?: readonly HistoryItem[];
  readonly notEvaluated?: NotEvaluated;
  readonly conditions?: readonly Condition[];
}

export interface KronJob extends KubeObject {
  readonly spec: KronJobSpec;
  readonly status?: KronJobStatus;
}

export interface Job extends KubeObject {
  readonly spec: JobSpec;
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly completionTime?: string;
    readonly startTime?: string;
    readonly [field: string]: unknown;
  };
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
