/** Keys of a whole page, for whoever is not writing at the moment. */
import { useEffect, useRef } from "preact/hooks";

function isWriting({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select");
}

/** `press` says whether the key was one of its own. */
export function useShortcuts(press: (key: string) => boolean): void {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
}
