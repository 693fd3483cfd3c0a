/** One of several questions that open in their place: `Esc` closes it, and the focus goes back to where it was before. */
import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

export interface Opening<Name extends string> {
  readonly open: ReadonlySignal<Name | null>;
  show(name: Name): void;
  shut(): void;
  toggle(name: Name): () => void;
  /** Of what holds the questions: also while somebody writes in one of them. */
  onKeyDown(event: KeyboardEvent): void;
}

export function useOpening<Name extends string>(first: Name | null): Opening<Name> {
  const open: Signal<Name | null> = useSignal<Name | null>(first);
  const opener = useRef<Element | null>(null);
  const show = (name: Name): void => {
    if (open.value === null) opener.current = document.activeElement;
    open.value = name;
  };
  const shut = (): void => {
    if (open.value === null) return;
    open.value = null;
    if (opener.current instanceof HTMLElement) opener.current.focus();
  };
  const toggle = (name: Name) => (): void => {
    if (open.value === name) shut();
    else show(name);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || open.value === null) return;
    event.preventDefault();
    shut();
  };
  return { open, show, shut, toggle, onKeyDown };
}
