/**
 * `Idempotency-Key`: a request that is sent again is not carried out again, it hears what the first one heard. That it was
 * begun is durable before it is: whoever asks after a crash is told that nobody knows, and nothing is done twice.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { EpochMs } from "../../core/time/instant.js";
import type { Acting } from "../../operations/ports.js";
import type { ObjectWrite } from "../../persist/store.js";
import { API_LIMITS } from "../limits.js";
import type { Answer } from "./answer.js";
import { HttpProblem, retryAfter } from "./problem.js";

const PREFIX = "idempotency/";
/** The same by age, for whoever sweeps. */
const BY_AGE = "idempotency-at/";
const INSTANT_CHARS = 15;

/** Nothing was done, and the same request is welcome later. */
const NOT_YET: ReadonlySet<number> = new Set([429, 503]);

const ANSWER = z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string().nullable() });
const RECORD = z.object({
  at: z.int(),
  hash: z.string(),
  /** null: not yet, or never known. */
  answer: ANSWER.nullable(),
  /** It had an answer, which was not for keeping. */
  isWithheld: z.boolean(),
});
type Entry = z.output<typeof RECORD>;

interface Repeatable {
  /** Whose key it is: others may use the same one. */
  readonly owner: string;
  readonly key: string;
  /** All that must be the same when it is sent again. */
  readonly request: string;
  /** Nobody but who has asked may ever see the answer. */
  readonly isShownOnce: boolean;
}

export type IdempotencyPorts = Pick<Acting, "reader" | "write" | "now" | "inTurn">;

export class Idempotency {
  readonly #ports: IdempotencyPorts;
  readonly #underWay = new Set<string>();
  /** By owner: what was kept since then. */
  readonly #shares = new Map<string, { readonly fromAt: EpochMs; requests: number; chars: number }>();

  constructor(ports: IdempotencyPorts) {
    this.#ports = ports;
  }

  /** Carries it out, or tells what came of it. */
  async once(asked: Repeatable, act: () => Promise<Answer>): Promise<Answer> {
    const name = nameOf(asked);
    if (this.#underWay.has(name)) throw inProgress();
    this.#underWay.add(name);
    try {
      // Where another node carries it out, its answer is waited for.
      return await this.#ports.inTurn(PREFIX + name, async () => {
        const known = await this.#known(name);
        if (known !== null && !this.#isOver(known)) return repeated(known, asked);
        return this.#first(name, asked, act, known);
      });
    } finally {
      this.#underWay.delete(name);
    }
  }

  /** Removes what is too old to matter. True: there is more of it. */
  async sweep(): Promise<boolean> {
    const { reader, write, now } = this.#ports;
    const limit = API_LIMITS.sweptAtOnce;
    const before = now() - API_LIMITS.idempotencyMs;
    const oldest = await reader.objects({ prefix: BY_AGE, limit });
    const over = oldest.filter(({ key }) => Number(key.slice(BY_AGE.length, BY_AGE.length + INSTANT_CHARS)) <= before);
    const gone = over.flatMap(({ key }): readonly ObjectWrite[] => {
      const name = key.slice(BY_AGE.length + INSTANT_CHARS + 1);
      return [key, PREFIX + name].map((each) => ({ key: each, text: null }));
    });
    if (gone.length > 0) await write(gone);
    return over.length === limit;
  }

  async #known(name: string): Promise<Entry | null> {
    const stored = await this.#ports.reader.object(PREFIX + name);
    if (stored === undefined) return null;
    const read = RECORD.safeParse(stored.isIntact ? JSON.parse(stored.text) : null);
    if (!read.success) throw fateUnknown();
    return read.data;
  }

  #isOver({ at }: Entry): boolean {
    return at <= this.#ports.now() - API_LIMITS.idempotencyMs;
  }

  /** `former`: one that is too old to matter, and was not swept yet. */
  async #first(name: string, asked: Repeatable, act: () => Promise<Answer>, former: Entry | null): Promise<Answer> {
    const { write, now } = this.#ports;
    const share = this.#shareOf(asked.owner);
    const begun: Entry = { at: now(), hash: hashOf(asked.request), answer: null, isWithheld: false };
    const gone = former === null ? [] : [{ key: ageKey(name, former.at), text: null }];
    await write([...gone, written(name, begun), { key: ageKey(name, begun.at), text: "" }]);
    const answer = await act();
    if (NOT_YET.has(answer.status)) {
      await write([PREFIX + name, ageKey(name, begun.at)].map((key) => ({ key, text: null })));
      return answer;
    }
    const isKept = !asked.isShownOnce && (answer.body ?? "").length <= API_LIMITS.keptAnswerChars;
    share.chars += isKept ? (answer.body ?? "").length : 0;
    await write([written(name, { ...begun, answer: isKept ? answer : null, isWithheld: !isKept })]);
    return answer;
  }

  /** Nobody fills the disk with what is kept for them: so much within the time that it is kept, and then no more. */
  #shareOf(owner: string) {
    const now = this.#ports.now();
    const known = this.#shares.get(owner);
    const isOver = known === undefined || Math.abs(now - known.fromAt) >= API_LIMITS.idempotencyMs;
    const share = isOver ? { fromAt: now, requests: 0, chars: 0 } : known;
    this.#shares.set(owner, share);
    if (share.requests >= API_LIMITS.keptRequests || share.chars >= API_LIMITS.keptChars) {
      const headers = retryAfter(share.fromAt + API_LIMITS.idempotencyMs - now);
      const hint = "requests without an Idempotency-Key are answered as before";
      throw new HttpProblem("exhausted", "too many requests with an Idempotency-Key", { headers, hint });
    }
    share.requests += 1;
    return share;
  }
}

function repeated({ hash, answer, isWithheld }: Entry, { request }: Repeatable): Answer {
  if (hash !== hashOf(request)) {
    const hint = "send the same request again, or give this one a key of its own";
    throw new HttpProblem("idempotency-conflict", "this Idempotency-Key was used for another request", { hint });
  }
  if (answer !== null) return { ...answer, headers: { ...answer.headers, "Idempotency-Replayed": "true" } };
  if (!isWithheld) throw fateUnknown();
  const hint = "look what there is; a key that got lost is revoked, and another one made";
  throw new HttpProblem("idempotency-answer-not-kept", "this was done, and its answer was shown once", { hint });
}

function fateUnknown(): HttpProblem {
  const hint = "look whether it was done; to do it once more, give it a key of its own";
  return new HttpProblem("idempotency-fate-unknown", "this was begun before, and nobody knows what came of it", {
    hint,
  });
}

function inProgress(): HttpProblem {
  const headers = retryAfter(1);
  return new HttpProblem("idempotency-in-progress", "the first request with this Idempotency-Key goes on", { headers });
}

function written(name: string, entry: Entry): ObjectWrite {
  return { key: PREFIX + name, text: JSON.stringify(entry) };
}

function ageKey(name: string, at: EpochMs): string {
  return `${BY_AGE}${String(at).padStart(INSTANT_CHARS, "0")}/${name}`;
}

function nameOf({ owner, key }: Repeatable): string {
  return `${owner}/${hashOf(key)}`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
