/** A store that tells how its commits go, for metrics and health. What it does is what the store does. */
import type { Clock } from "../../actors/clock.js";
import type { Batch, StateStore } from "../../persist/store.js";

interface CommitObserver {
  /** It is durable; `heldMs` of the time nothing else could run. */
  committed(durationMs: number): void;
  held(what: string, heldMs: number): void;
  /** From then on every commit fails. */
  failed(): void;
}

export class CommitMeter {
  readonly #begunMs = new Map<symbol, number>();
  readonly #clock: Clock;
  readonly #observer: CommitObserver;

  constructor(clock: Clock, observer: CommitObserver) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** How long the oldest commit has been under way; 0 when none is. */
  oldestMs(): number {
    const [first] = this.#begunMs.values();
    return first === undefined ? 0 : this.#clock.monotonicMs() - first;
  }

  observed(store: StateStore): StateStore {
    const commit: StateStore["commit"] = (term, batch) => this.#measured(batch, () => store.commit(term, batch));
    return new Proxy(store, {
      get: (target, name) => {
        if (name === "commit") return commit;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  #measured(batch: Batch, commit: () => ReturnType<StateStore["commit"]>): ReturnType<StateStore["commit"]> {
    const clock = this.#clock;
    const observer = this.#observer;
    const begunMs = this.#begunMs;
    const key = Symbol("commit");
    const begun = clock.monotonicMs();
    begunMs.set(key, begun);
    const done = commit();
    observer.held(textOf(batch), clock.monotonicMs() - begun);
    const ended = (tell: () => void) => (): void => {
      begunMs.delete(key);
      tell();
    };
    done.then(
      ended(() => observer.committed(clock.monotonicMs() - begun)),
      ended(() => observer.failed()),
    );
    return done;
  }
}

function textOf({ documents = [], ledger = [], definitions = [] }: Batch): string {
  const count = documents.length + ledger.length + definitions.length;
  return `a commit of ${documents.length} documents, ${count} entries`;
}
