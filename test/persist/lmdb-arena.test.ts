import { describe, expect, test } from "vitest";
import { Arena } from "../../src/persist/lmdb/arena.js";

const KIB = 1024;

describe("the arena of a commit", () => {
  test("has every text until it is emptied, however many there are and however long", () => {
    const arena = new Arena();
    const texts = Array.from(
      { length: 600 },
      (_, index) => `${index} äöü \u{1f600} ${"x".repeat((index * 977) % 5_000)}`,
    );
    texts.splice(100, 0, "y".repeat(400 * KIB), "", "z".repeat(90 * KIB));
    for (let round = 0; round < 3; round++) {
      const written = texts.map((text, index) => (index % 2 === 0 ? arena.write(text) : arena.write("head\n", text)));
      const found = written.map((bytes) => bytes.toString());
      expect(found).toEqual(texts.map((text, index) => (index % 2 === 0 ? text : `head\n${text}`)));
      arena.empty();
    }
  });

  test("is written over once it was emptied, and keeps no more than it needs for a commit", () => {
    const arena = new Arena();
    const first = arena.write("first");
    arena.empty();
    expect(arena.write("other").buffer).toBe(first.buffer);
    expect(first.toString()).toBe("other");
    arena.empty();
    const one = () => arena.write("x".repeat(80 * KIB)).buffer;
    const many = () => new Set(Array.from({ length: 40 }, one));
    const before = many();
    arena.empty();
    const again = many();
    expect([before.size, again.size]).toEqual([40, 40]);
    expect([...again].filter((chunk) => before.has(chunk))).toHaveLength(16);
  });
});
