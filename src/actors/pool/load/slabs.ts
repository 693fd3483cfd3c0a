/**
 * Bytes of a large configuration, kept until its start is over, in few large pieces. An allocator maps a piece of this size for
 * itself and gives it back at once, whereas of hundreds of smaller ones, made by threads that are gone since, it keeps
 * what they took: a first load of a million jobs would leave two hundred megabytes behind.
 */

/** More than the C library ever takes from the memory that it keeps, which is 32 MiB. Only what is written takes room. */
const SLAB_BYTES = 64 * 1024 * 1024;
const ALIGNMENT = 8;

type Column = Uint8Array | Uint32Array;

export class Slabs {
  #slab = new ArrayBuffer(0);
  #used = 0;

  /** A copy of a column. */
  kept<C extends Column>(column: C): C {
    const { byteLength } = column;
    if (this.#slab.byteLength - this.#used < byteLength) {
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, byteLength)).buffer as ArrayBuffer;
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
    new Uint8Array(this.#slab, start, byteLength).set(new Uint8Array(column.buffer, column.byteOffset, byteLength));
    const make = column.constructor as new (buffer: ArrayBuffer, start: number, length: number) => C;
    return new make(this.#slab, start, column.length);
  }
}
