/** Drawings are as large as the room they have, so that what is written in them is as large as everything else. */
import { useSignal } from "@preact/signals";
import type { Ref } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Below it there is no room for names beside what is drawn. */
export const NARROW_PX = 640;

/** `usual`: until it is known. */
export function useWidth(usual: number): readonly [box: Ref<SVGSVGElement>, width: number] {
  const box = useRef<SVGSVGElement>(null);
  const width = useSignal(usual);
  useLayoutEffect(() => {
    const drawing = box.current;
    if (drawing === null) return;
    const measure = (): void => {
      // What is not laid out yet has no width.
      width.value = Math.round(drawing.getBoundingClientRect().width) || usual;
    };
    const watch = new ResizeObserver(measure);
    watch.observe(drawing);
    measure();
    return () => watch.disconnect();
  }, [width, usual]);
  return [box, width.value];
}
