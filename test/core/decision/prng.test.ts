import { describe, expect, test } from "vitest";
import { SplitMix64 } from "../../../src/core/decision/prng.js";
import { sha256Hex } from "../../../src/core/decision/seed.js";

const MASK = 0xffffffffffffffffn;

/** The definition, word for word, in 64-bit integers. */
function* referenceStream(seedHash: string): Generator<number> {
  let state = BigInt(`0x${seedHash.slice(0, 16)}`);
  for (;;) {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    z ^= z >> 31n;
    yield Number(z >> 11n) / 2 ** 53;
  }
}

function draws(seedHash: string, count: number): number[] {
  const stream = new SplitMix64(seedHash);
  return Array.from({ length: count }, () => stream.nextUnit());
}

function referenceDraws(seedHash: string, count: number): number[] {
  const stream = referenceStream(seedHash);
  return Array.from({ length: count }, () => stream.next().value as number);
}

const STATES = [
  "0000000000000000",
  "ffffffffffffffff",
  "61c8864680b583eb", // the next state is 0
  "61c8864680b583ea", // the next state is 2^64 - 1
  "000000008b0b83ea", // carries out of the low half
  "0000000080b583eb", // the low half becomes 0 with a carry
  "80000000ffffffff",
  "7fffffff00000000",
];

describe("SplitMix64", () => {
  test.each(STATES)("state %s gives the reference stream", (state) => {
    expect(draws(state, 100)).toEqual(referenceDraws(state, 100));
  });

  test("hashes give the reference stream", () => {
    const hashes = Array.from({ length: 2000 }, (_, i) => sha256Hex(`stream ${i}`));
    expect(hashes.map((hash) => draws(hash, 5))).toEqual(hashes.map((hash) => referenceDraws(hash, 5)));
  });

  test("G1: the first draw of the published seed", () => {
    const hash = "9c85657760a63b4d925af6088cceb2bb4448380b2e6856b203915a0a51ab5101";
    expect(draws(hash, 1)).toEqual([0.8462881248863515]);
  });

  test("draws are in [0, 1)", () => {
    const stream = new SplitMix64(sha256Hex("range"));
    const values = Array.from({ length: 100_000 }, () => stream.nextUnit());
    expect(values.every((u) => u >= 0 && u < 1)).toBe(true);
  });

  test("only the first 8 bytes of the hash count", () => {
    expect(draws(`0123456789abcdef${"0".repeat(48)}`, 3)).toEqual(draws(`0123456789abcdef${"f".repeat(48)}`, 3));
  });
});
