/** A button for what cannot be taken back: it asks in its own place, and a second press does it. `Esc` leaves it undone. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/** What was opened by a key goes on by keys. One function for all: another one each time would take the focus each time. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

interface Props {
  readonly name: string;
  /** Of whom or what, for those who do not see the line it stands in. */
  readonly of: string;
  readonly question: string;
  onSure(): void;
}

export function Sure({ name, of, question, onSure }: Props) {
  const isOpen = useSignal(false);
  const opener = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  // Whoever has answered goes on where they were.
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen.value) opener.current?.focus();
    wasOpen.current = isOpen.value;
  }, [isOpen.value]);
  const turn = (to: boolean) => (): void => {
    isOpen.value = to;
  };
  if (!isOpen.value) {
    return (
      <button type="button" class="plain" ref={opener} aria-label={`${name} ${of}`} onClick={turn(true)}>
        {name}
      </button>
    );
  }
  return (
    // The keys are those of the buttons in it.
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the buttons in it
    <span
      class="asked"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        isOpen.value = false;
      }}
    >
      {question}{" "}
      <button
        type="button"
        class="danger"
        ref={takeFocus}
        onClick={() => {
          isOpen.value = false;
          onSure();
        }}
      >
        {name}
      </button>{" "}
      <button type="button" class="plain" onClick={turn(false)}>
        No
      </button>
    </span>
  );
}
