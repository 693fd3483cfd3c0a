/**
 * SplitMix64, seeded with the first eight bytes of a seed hash. The 64-bit state is kept in two int32 halves: the same
 * stream as with BigInt, more than ten times as fast.
 */

/** Golden-ratio increment and the two multipliers, each as a high and a low half. */
const GAMMA_HI = 0x9e3779b9;
const GAMMA_LO = 0x7f4a7c15;
const MUL1_HI = 0xbf58476d;
const MUL1_LO = 0x1ce4e5b9;
const MUL2_HI = 0x94d049bb;
const MUL2_LO = 0x133111eb;

const TWO_POW_21 = 2_097_152;
const TWO_POW_53 = 9_007_199_254_740_992;
const HEX_DIGITS_PER_HALF = 8;

/** The stream of one seed. A draw changes the instance and nothing else. */
export class SplitMix64 {
  #hi: number;
  #lo: number;

  /** `seedHash` is lowercase hex; its first 16 digits are the state, most significant first. */
  constructor(seedHash: string) {
    this.#hi = int32OfHex(seedHash, 0);
    this.#lo = int32OfHex(seedHash, HEX_DIGITS_PER_HALF);
  }

  /** The next number of the stream, `0 <= u < 1`, a multiple of 2^-53. */
  nextUnit(): number {
    const low = (this.#lo >>> 0) + GAMMA_LO;
    const carry = low > 0xffffffff ? 1 : 0;
    this.#lo = low | 0;
    this.#hi = (this.#hi + GAMMA_HI + carry) | 0;

    let lo = this.#lo ^ ((this.#lo >>> 30) | (this.#hi << 2));
    let hi = this.#hi ^ (this.#hi >>> 30);
    hi = multiplyHigh(hi, lo, MUL1_HI, MUL1_LO);
    lo = Math.imul(lo, MUL1_LO);

    lo ^= (lo >>> 27) | (hi << 5);
    hi ^= hi >>> 27;
    hi = multiplyHigh(hi, lo, MUL2_HI, MUL2_LO);
    lo = Math.imul(lo, MUL2_LO);

    lo ^= (lo >>> 31) | (hi << 1);
    hi ^= hi >>> 31;
    return ((hi >>> 0) * TWO_POW_21 + (lo >>> 11)) / TWO_POW_53;
  }
}

/** The upper half of the low 64 bits of a product of two 64-bit numbers. No intermediate exceeds 2^32. */
function multiplyHigh(aHi: number, aLo: number, bHi: number, bLo: number): number {
  const a0 = aLo & 0xffff;
  const a1 = aLo >>> 16;
  const b0 = bLo & 0xffff;
  const b1 = bLo >>> 16;
  const middle = (Math.imul(a1, b0) >>> 0) + (Math.imul(a0, b0) >>> 16);
  const carried = (Math.imul(a0, b1) >>> 0) + (middle & 0xffff);
  const upperOfLows = Math.imul(a1, b1) + (middle >>> 16) + (carried >>> 16);
  return (upperOfLows + Math.imul(aHi, bLo) + Math.imul(aLo, bHi)) | 0;
}

function int32OfHex(text: string, from: number): number {
  let value = 0;
  for (let i = from; i < from + HEX_DIGITS_PER_HALF; i++) {
    const code = text.charCodeAt(i);
    // "0".."9" are 48..57, "a".."f" are 97..102.
    value = (value << 4) | (code < 58 ? code - 48 : code - 87);
  }
  return value;
}
