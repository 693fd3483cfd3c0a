/**
 * The library's worker: claims runs of endpoints over the API, carries them out, and says how they ended. It needs nothing of
 * Kron but its address and a key that may write.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Work } from "../../actors/workers/work.js";

export type EndpointClaim = Work;

/** The status of the answer, or why there is none. */
export type ClaimResult =
  | { readonly httpStatus: number; readonly responseExcerpt?: string; readonly responseBytes?: number }
  /** `wasSent` false: not one byte of the request was sent. */
  | { readonly error: string; readonly wasSent?: boolean };

export interface WorkerOptions {
  /** Where the API is, without its path. */
  readonly url: string;
  readonly key: string;
}

export interface RunOptions {
  /** Claims are carried out side by side, so many at once; where one has ended, another is claimed. */
  readonly limit?: number;
  /** Nothing is claimed any more; it ends when what was claimed has been carried out and said. */
  readonly signal?: AbortSignal;
  /**
   * The API was not there or has refused. For runs it is asked again after a second; how one ended is said again until it is
   * heard or the run's time is over.
   */
  readonly onTrouble?: (error: Error) => void;
}

export interface EndpointWorker {
  /** What is due now or within this time, at most so many; each is given to one worker, once. */
  claimDueEndpoints(limit?: number, withinMs?: number, signal?: AbortSignal): Promise<readonly EndpointClaim[]>;
  /** False: its time was over. */
  complete(claimId: string, result: ClaimResult): Promise<boolean>;
  /** Claims and carries out, again and again. What throws has failed. */
  run(carryOut: (claim: EndpointClaim) => Promise<ClaimResult>, options?: RunOptions): Promise<void>;
}

const LIMIT = 10;
const WITHIN_MS = 5_000;
/** As many as the API gives at once. */
const AT_ONCE = 1_000;
const TROUBLE_MS = 1_000;
/** How long one word to the API may take, and how long is waited before it is said again: twice as long each time. */
const WORD_MS = 10_000;
const AGAIN_MS = { first: 100, most: 5_000 };
const [TIMED_OUT, TOO_MANY] = [408, 429];
/** As much as is kept of an answer at most. */
const EXCERPT_CHARS = 4_096;
const ERROR_CHARS = 200;

/**
 * @example
 * const worker = createWorker({ url: "http://127.0.0.1:7070", key: process.env.KRON_API_KEY });
 * await worker.run(async ({ request }) => ({ httpStatus: (await fetch(request.url, request)).status }));
 */
export function createWorker({ url, key }: WorkerOptions): EndpointWorker {
  const base = new URL("/api/v1/", url);
  const post = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(new URL(path, base), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });

  const claim = async (limit: number, withinMs: number, signal?: AbortSignal): Promise<readonly EndpointClaim[]> => {
    const response = await whileWaiting(signal, (waiting) => post("claims", { limit, withinMs }, waiting));
    if (!response.ok) throw await refusalOf(response);
    return ((await response.json()) as { readonly rows: readonly EndpointClaim[] }).rows;
  };

  const complete = async (claimId: string, result: ClaimResult): Promise<boolean> => {
    const path = `claims/${encodeURIComponent(claimId)}/complete`;
    const response = await post(path, bounded(result), AbortSignal.timeout(WORD_MS));
    if (!response.ok && response.status !== 404) throw await refusalOf(response);
    await response.body?.cancel();
    return response.ok;
  };

  return {
    claimDueEndpoints: (limit = LIMIT, withinMs = WITHIN_MS, signal) => claim(limit, withinMs, signal),
    complete,
    run: (carryOut, options = {}) => run({ claim, complete }, carryOut, options),
  };
}

interface Api {
  claim(limit: number, withinMs: number, signal?: AbortSignal): Promise<readonly EndpointClaim[]>;
  complete(claimId: string, result: ClaimResult): Promise<boolean>;
}

type CarryOut = (claim: EndpointClaim) => Promise<ClaimResult>;
type Tell = (error: unknown) => void;

async function run(api: Api, carryOut: CarryOut, { limit = LIMIT, signal, onTrouble }: RunOptions): Promise<void> {
  const tell: Tell = (error) => {
    try {
      onTrouble?.(error instanceof Error ? error : new Error(String(error)));
    } catch {
      // Whoever is told of it cannot lose what has been carried out.
    }
  };
  const underWay = new Set<Promise<void>>();
  while (signal?.aborted !== true) {
    const free = Math.min(limit - underWay.size, AT_ONCE);
    if (free <= 0 && underWay.size > 0) {
      await Promise.race(underWay);
      continue;
    }
    for (const one of await claimed(api, free, tell, signal)) {
      const carried = carriedOut(api, one, carryOut, tell).finally(() => underWay.delete(carried));
      underWay.add(carried);
    }
  }
  await Promise.all(underWay);
}

async function claimed(api: Api, limit: number, tell: Tell, signal?: AbortSignal): Promise<readonly EndpointClaim[]> {
  try {
    return await api.claim(limit, WITHIN_MS, signal);
  } catch (error) {
    if (signal?.aborted === true) return [];
    tell(error);
    await sleep(TROUBLE_MS, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    return [];
  }
}

/** What throws has failed, at once or later, and so has what is no result. */
async function carriedOut(api: Api, one: EndpointClaim, carryOut: CarryOut, tell: Tell): Promise<void> {
  // By our own clock, which need not be the daemon's.
  const untilMs = performance.now() + one.request.timeoutMs;
  const result = await Promise.resolve()
    .then(() => carryOut(one))
    .then(bounded)
    .catch((error: unknown) => ({ error: messageOf(error) }));
  for (let waitMs = AGAIN_MS.first; ; waitMs = Math.min(2 * waitMs, AGAIN_MS.most)) {
    try {
      await api.complete(one.claimId, result);
      return;
    } catch (error) {
      tell(error);
      if (isFinal(error) || performance.now() + waitMs >= untilMs) return;
    }
    await sleep(waitMs);
  }
}

/** To be given up as long as there is no answer: one that has begun may hold runs, which nobody else is given. */
async function whileWaiting<T>(signal: AbortSignal | undefined, ask: (waiting: AbortSignal) => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const waiting = new AbortController();
  const stop = (): void => waiting.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  try {
    return await ask(waiting.signal);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Said again, it would be refused again. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Refusal) || error.status >= 500) return false;
  return error.status !== TIMED_OUT && error.status !== TOO_MANY;
}

function bounded(result: ClaimResult): ClaimResult {
  if ("error" in result) return { ...result, error: result.error.slice(0, ERROR_CHARS) || "failed" };
  const { responseExcerpt: text } = result;
  if (text === undefined || text.length <= EXCERPT_CHARS) return result;
  return { responseBytes: Buffer.byteLength(text), ...result, responseExcerpt: text.slice(0, EXCERPT_CHARS) };
}

async function refusalOf(response: Response): Promise<Refusal> {
  const said = (await response.json().catch(() => null)) as {
    readonly detail?: string;
    readonly title?: string;
  } | null;
  const reason = said?.detail ?? said?.title ?? response.statusText;
  return new Refusal(response.status, `the API answered ${response.status}: ${reason}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
