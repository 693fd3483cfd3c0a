/**
 * Looks at where things are once everything has been drawn, all looks before all that moves: each look after a change would
 * have the browser lay out the page anew.
 */
type Act = () => void;

const waiting: (() => Act | null)[] = [];

/** `look` gives what is to be done about what it has seen; null: nothing. */
export function whenLaidOut(look: () => Act | null): void {
  if (waiting.push(look) > 1) return;
  requestAnimationFrame(() => {
    for (const act of waiting.splice(0).map((each) => each())) act?.();
  });
}
