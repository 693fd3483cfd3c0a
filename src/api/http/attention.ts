/** Whether anybody here follows what happens: as long as somebody does, other nodes are listened to as well. */
export class Attention {
  readonly #follow: () => () => void;
  #leave: (() => void) | null = null;

  constructor(follow: () => () => void) {
    this.#follow = follow;
  }

  is(wanted: boolean): void {
    if (wanted) {
      this.#leave ??= this.#follow();
      return;
    }
    this.#leave?.();
    this.#leave = null;
  }
}

/** Of a daemon that has nobody beside it. */
export function nobodyElse(): () => void {
  return () => undefined;
}
