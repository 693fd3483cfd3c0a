/** One bit that two threads see: the work on the other side is not wanted any more. */

export type StopFlag = Int32Array<SharedArrayBuffer>;

export function newStopFlag(): StopFlag {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

export function raise(flag: StopFlag): void {
  Atomics.store(flag, 0, 1);
}

function isRaised(flag: StopFlag): boolean {
  return Atomics.load(flag, 0) !== 0;
}

/** Ends a batch from inside; what it would have answered is not heard. */
class Stopped extends Error {
  override readonly name = "Stopped";
}

export function throwIfRaised(flag: StopFlag): void {
  if (isRaised(flag)) throw new Stopped("the batch is not wanted any more");
}
