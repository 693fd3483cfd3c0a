/** Rows that stay where they are while somebody reads: what is new comes behind them, and what is gone leaves. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { inPlace } from "../view.js";

interface Named {
  readonly identity: string;
}

export function useSteady<Row extends Named>(rows: readonly Row[]): readonly Row[] {
  const order = useRef<readonly string[]>([]);
  const steady = inPlace(rows, ({ identity }) => identity, order.current);
  order.current = steady.map(({ identity }) => identity);
  return steady;
}

interface Held<T> {
  readonly value: T;
  /** Of what is held while somebody is in it. */
  readonly holder: Readonly<Record<"onPointerEnter" | "onPointerLeave" | "onFocusIn" | "onFocusOut", () => void>>;
}

/** What moves with every news stands still while the pointer or the focus is in it. */
export function useHeld<T>(value: T): Held<T> {
  const isHeld = useSignal(false);
  const shown = useRef(value);
  if (!isHeld.value) shown.current = value;
  const turn = (isIn: boolean) => (): void => {
    isHeld.value = isIn;
  };
  const holder = {
    onPointerEnter: turn(true),
    onPointerLeave: turn(false),
    onFocusIn: turn(true),
    onFocusOut: turn(false),
  };
  return { value: shown.current, holder };
}
