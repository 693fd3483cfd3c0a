/**
 * What the decision pool takes and gives, on both sides of the thread boundary: numbers in typed arrays and texts as
 * bytes, so that a page of thousands of jobs is handed over and never cloned.
 */

import type { KronError } from "../../core/base/errors/kron-error.js";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { Settings } from "../../core/config/settings.js";
import type { Horizon } from "../../core/forecast/horizon.js";
import type { Contributors } from "../../core/forecast/top-contributors.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { ConfigCheck, ConfigSource } from "../../persist/config-files.js";
import type { StateReader } from "../../persist/store.js";
import type { DefinitionSet } from "./load/definition-set.js";
import type { Merged } from "./load/merge.js";

/** Why a row is not fit for use: of CORRUPT and UNREADABLE_DEFINITION. */
export interface PlannedProblem {
  /** Of the row in its page. */
  readonly index: number;
  /** Of the document: `hex(sha256(identity)).json`. The row's identity is empty when nobody knows whose it is. */
  readonly key: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * Some jobs of the store, in the order of their keys, column by column. No job is in two pages, and a job is in one
 * when it has a document or a definition.
 */
export interface PlannedPage {
  readonly count: number;
  /** All identities as UTF-8, one behind the other; `identityEnds[i]` is where the one of row i ends. */
  readonly identityBytes: Uint8Array;
  readonly identityEnds: Uint32Array;
  /** `high` and `low` of each row's definition in force; zeros without one. */
  readonly contentHash: Uint32Array;
  /** NaN: none. Only rows that are QUIET have any. */
  readonly liveAt: Float64Array;
  /** NaN: none. Only rows that are QUIET have any. */
  readonly wakeAt: Float64Array;
  /** `second`, `marks` and `lengths` of each row's glance; zeros for rows that are not QUIET. */
  readonly glances: Uint32Array;
  /** `STANDINGS[standing[i]]` of core/resting.ts names it. */
  readonly standing: Uint8Array;
  readonly problems: readonly PlannedProblem[];
}

export interface PlanOptions {
  readonly now: EpochMs;
  /** Called first, with the number of documents in the store: about as many rows will come. */
  readonly onCount?: (documents: number) => void;
  /** Ends the planning at once; `planAll` then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Called for one page after the other, never for two at a time, in no particular order. The next waits until this one
   * is done with, so that a slow reader holds up the pool and not the memory.
   */
  readonly onPage: (page: PlannedPage) => void | Promise<void>;
  readonly onProgress?: (progress: PlanProgress) => void;
}

export interface PlanProgress {
  /** Rows handed over so far. */
  readonly done: number;
  /** Documents in the store when planning began; jobs without a document come on top. */
  readonly total: number;
}

export interface PlanSummary {
  readonly rows: number;
  readonly pages: number;
  readonly isPooled: boolean;
  /** Batches that were computed again because their worker died. */
  readonly retries: number;
  /**
   * Whether the definitions had been read by this version of the program before. If not, and none is
   * UNREADABLE_DEFINITION, commit `DEFINITION_READER`: the next start is faster for it.
   */
  readonly isCurrent: boolean;
}

export interface LoadOptions {
  readonly signal?: AbortSignal;
  readonly check?: ConfigCheck | null;
  readonly onProgress?: (progress: LoadProgress) => void;
  /** From the last load: files that have not changed since are not read as configuration again. */
  readonly known?: ConfigManifest | null;
}

interface LoadProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** What a configuration was made of. The same manifest means the same definitions. */
export interface ConfigManifest {
  /** Program and rules that read it; another one reads again. */
  readonly reader: string;
  readonly files: readonly ConfigManifestFile[];
  /** What the files set beside their jobs. */
  readonly settings: Settings;
  readonly jobs: number;
}

export interface ConfigManifestFile {
  readonly name: string;
  readonly bytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
  /** Of a file of dates: the path by which the configuration file before it in the list names it. */
  readonly calendar?: string;
}

export interface LoadedConfiguration extends Merged {
  /** null: nothing has changed since `known` was made, and the definitions are the ones in the store. */
  readonly definitions: DefinitionSet | null;
  /** To be stored with the definitions. null: there are findings or crontabs, so it must be read again next time. */
  readonly manifest: ConfigManifest | null;
  readonly files: readonly string[];
}

export interface SeriesCounts {
  /** Starts of each bucket. */
  readonly counts: Uint32Array;
  readonly total: number;
  /** Those who make each bucket; null: nobody starts in it. */
  readonly who: readonly (Contributors | null)[];
}

/** What all definitions in force will start. */
export interface StoreForecast {
  readonly jobs: number;
  readonly suspended: number;
  readonly unschedulable: number;
  readonly chosen: SeriesCounts;
  /** Everybody at the nominal second. */
  readonly nominal: SeriesCounts;
}

export interface PoolStatus {
  readonly threads: number;
  readonly batches: number;
  /** Workers that ended by themselves. */
  readonly deaths: number;
}

export interface DecisionPool {
  /**
   * What a restart needs to know of every job in the store. Small stores and those without a file are planned on this
   * thread, in slices.
   */
  planAll(store: StateReader, options: PlanOptions): Promise<PlanSummary>;
  forecast(store: StateReader, horizon: Horizon): Promise<StoreForecast>;
  load(sources: readonly ConfigSource[], options?: LoadOptions): Promise<LoadedConfiguration>;
  status(): PoolStatus;
  /** Ends every thread; whatever is under way rejects. */
  close(): Promise<void>;
}

export interface DecisionPoolOptions {
  /** Most worker threads; 0: everything on this thread. */
  readonly threads: number;
  /** The worker program; without it `#decision-worker` of the package. */
  readonly entry?: string;
  /** Overrides the sizes that were measured; for tests. */
  readonly limits?: Partial<PoolLimits>;
  /** Told now and then, while the system gives fewer threads than are wanted: this thread does their work then. */
  readonly onRefused?: (error: KronError) => void;
}

export interface PoolLimits {
  /** Up to so many documents a store is planned on this thread. */
  readonly inlineDocuments: number;
  /** Rows that a page is meant to have. */
  readonly pageRows: number;
  /** Batches given to the pool and not yet taken over, for each thread. */
  readonly batchesPerThread: number;
  /** How often a batch is tried before giving up. */
  readonly attempts: number;
  /** How long a batch may take before its worker counts as stuck. */
  readonly batchTimeoutMs: number;
  /** How long a thread without work stays. */
  readonly idleMs: number;
  /** Files below this are read on this thread. */
  readonly inlineFileBytes: number;
  /** Size of the pieces of a file with a job on each line. */
  readonly pieceBytes: number;
}
