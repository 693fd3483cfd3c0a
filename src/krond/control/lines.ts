/** Pieces in, whole lines out; null when a line grows beyond the limit. */
export class LineSplitter {
  #rest = "";
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(piece: string): string[] | null {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > this.#limit || lines.some((line) => line.length > this.#limit)) return null;
    return lines.filter((line) => line !== "");
  }
}
