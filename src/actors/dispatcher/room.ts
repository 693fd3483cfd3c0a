/**
 * Room for so many requests at a time, and whose they are. Of what is free a tenant is given more only while it has fewer
 * under way than that: alone it comes to half of the room, and however many wait for answers that never come, the next one
 * finds half of what they have left. The host is kept from nothing that there is.
 */

/** null: the host itself, whose jobs no tenant has. */
export type Owner = string | null;

export class Room {
  #bound: number;
  #taken = 0;
  readonly #takenBy = new Map<Owner, number>();

  constructor(bound: number) {
    this.#bound = bound;
  }

  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  useBound(bound: number): void {
    this.#bound = bound;
  }

  takenBy(owner: Owner): number {
    return this.#takenBy.get(owner) ?? 0;
  }

  hasRoomFor(owner: Owner): boolean {
    return this.#free > 0 && (owner === null || this.takenBy(owner) < this.#free);
  }

  /** Returns who has no room any more beside them, of those who have some; null: nobody has. */
  take(owner: Owner): readonly Owner[] | null {
    this.#taken += 1;
    this.#takenBy.set(owner, this.takenBy(owner) + 1);
    return this.#whoHas(this.#free);
  }

  /** Returns who has room again beside them, of those who have some; null: everybody may. */
  giveBack(owner: Owner): readonly Owner[] | null {
    const taken = this.takenBy(owner);
    if (taken === 0) throw new Error("invariant broken: more room is given back than was taken");
    const edge = this.#free;
    this.#taken -= 1;
    if (taken === 1) this.#takenBy.delete(owner);
    else this.#takenBy.set(owner, taken - 1);
    return this.#whoHas(edge);
  }

  get #free(): number {
    return this.#bound - this.#taken;
  }

  /** Room for one more or less changes something for those alone who have exactly as many as there is. */
  #whoHas(count: number): readonly Owner[] | null {
    if (count <= 0) return null;
    return [...this.#takenBy].flatMap(([owner, taken]) => (taken === count ? [owner] : []));
  }
}
