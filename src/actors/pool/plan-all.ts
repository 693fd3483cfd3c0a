/** Plans every job of a store, with threads where they pay. */
import type { PlanRules } from "../../core/restart/resting.js";
import { areDefinitionsKnown } from "../../persist/definition-reader.js";
import { keyRanges } from "../../persist/key-range.js";
import type { StateReader, StoreSource } from "../../persist/store.js";
import { Lanes } from "./lanes.js";
import { orHere } from "./or-here.js";
import { planJobs, planTogether } from "./plan-jobs.js";
import type { Threads } from "./threads.js";
import type { PlannedPage, PlanOptions, PlanSummary, PoolLimits } from "./types.js";

export interface Planning {
  /** null: everything on this thread. */
  readonly threads: Threads | null;
  readonly width: number;
  readonly limits: PoolLimits;
}

export async function planAll(store: StateReader, options: PlanOptions, planning: Planning): Promise<PlanSummary> {
  const { documents, definitions } = await store.counts();
  options.onCount?.(documents);
  const isCurrent = await areDefinitionsKnown(store);
  const rules: PlanRules = { now: options.now, isChecked: store.isChecked, isCurrent };
  const handover = new Handover(options, documents);
  const jobs = Math.max(documents, definitions);
  const { threads, limits } = planning;
  if (threads !== null && store.source !== null && jobs > limits.inlineDocuments) {
    const work = { store, source: store.source, jobs, rules, threads };
    return { ...(await pooled(work, handover, planning)), isCurrent };
  }
  options.signal?.throwIfAborted();
  for await (const slice of store.jobs()) await handover.take(planJobs(slice, rules));
  return { ...handover.summary, isPooled: false, retries: 0, isCurrent };
}

interface PooledWork {
  readonly store: StateReader;
  readonly source: StoreSource;
  /** About as many as there are. */
  readonly jobs: number;
  readonly rules: PlanRules;
  readonly threads: Threads;
}

async function pooled(
  { store, source, jobs, rules, threads }: PooledWork,
  handover: Handover,
  { width, limits }: Planning,
): Promise<Omit<PlanSummary, "isCurrent">> {
  let retries = 0;
  const { signal } = handover;
  const onRetry = (): void => {
    retries += 1;
  };
  const lanes = new Lanes<PlannedPage>(width, (page) => handover.take(page));
  try {
    for (const range of keyRanges(Math.ceil(jobs / limits.pageRows), store.range)) {
      const here = (): Promise<PlannedPage> => {
        return planTogether(store.inRange(range).jobs(), rules, () => signal.throwIfAborted());
      };
      await lanes.put(() => orHere(threads.run("planRange", { source, range, rules }, { signal, onRetry }), here));
    }
  } finally {
    await lanes.end();
  }
  return { ...handover.summary, isPooled: true, retries };
}

const NEVER = new AbortController().signal;

/** Pages on their way to whoever asked. */
class Handover {
  readonly signal: AbortSignal;
  readonly #options: PlanOptions;
  readonly #total: number;
  #rows = 0;
  #pages = 0;

  constructor(options: PlanOptions, total: number) {
    this.signal = options.signal ?? NEVER;
    this.#options = options;
    this.#total = total;
  }

  get summary(): { readonly rows: number; readonly pages: number } {
    return { rows: this.#rows, pages: this.#pages };
  }

  async take(page: PlannedPage): Promise<void> {
    this.signal.throwIfAborted();
    if (page.count === 0) return;
    this.#rows += page.count;
    this.#pages += 1;
    await this.#options.onPage(page);
    this.signal.throwIfAborted();
    this.#options.onProgress?.({ done: this.#rows, total: this.#total });
  }
}
