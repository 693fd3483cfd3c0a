/** An answer that a part of the page shows, kept until a newer one is there. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Changed, changed, get } from "./data.js";

export interface Asked<T> {
  readonly it: T | null;
  readonly refusal: string | null;
  again(): void;
}

/** null: nothing is asked. */
export function useAsked<T>(path: string | null): Asked<T> {
  const state = useSignal<{ readonly path: string | null; readonly it: T | null; readonly refusal: string | null }>({
    path: null,
    it: null,
    refusal: null,
  });
  const asked = useRef(0);
  function ask(): void {
    asked.current += 1;
    const mine = asked.current;
    if (path === null) return;
    get<T>(path).then(
      (it) => {
        if (mine === asked.current) state.value = { path, it, refusal: null };
      },
      (error: unknown) => {
        // What was shown stays: it was true a moment ago.
        if (mine === asked.current) state.value = { path, it: state.value.it, refusal: (error as Error).message };
      },
    );
  }
  useEffect(ask, [path]);
  return { it: state.value.it, refusal: state.value.path === path ? state.value.refusal : null, again: ask };
}

/** Calls when something of it has changed, at once and then at most so often. */
export function useChanges(isMine: (identities: Changed) => boolean, act: () => void, everyMs = 1_000): void {
  const latest = useRef({ isMine, act });
  latest.current = { isMine, act };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let lastMs = 0;
    const run = (): void => {
      timer = null;
      lastMs = performance.now();
      latest.current.act();
    };
    let isFirst = true;
    const stop = changed.subscribe(({ identities }) => {
      // The one that is told on subscribing was told before.
      if (isFirst) isFirst = false;
      else if (timer === null && latest.current.isMine(identities)) {
        timer = setTimeout(run, Math.max(0, lastMs + everyMs - performance.now()));
      }
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [everyMs]);
}
