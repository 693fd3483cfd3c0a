/** A part that few look at: loaded when somebody does. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";

export function Lazy({ load }: { readonly load: () => Promise<ComponentType> }) {
  const loaded = useSignal<{ readonly part: ComponentType } | null>(null);
  useEffect(() => {
    void load().then((part) => {
      loaded.value = { part };
    });
  }, [load, loaded]);
  const Part = loaded.value?.part;
  return Part === undefined ? <h1 tabIndex={-1}>…</h1> : <Part />;
}
