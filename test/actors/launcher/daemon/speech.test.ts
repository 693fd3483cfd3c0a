/** In which pieces what is said to a launcher goes out. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { LAUNCHER_LIMITS } from "../../../../src/actors/launcher/child/limits.js";
import { Speech } from "../../../../src/actors/launcher/daemon/speech.js";

const { framesOfMany, heldFramesMs } = LAUNCHER_LIMITS;

function listener() {
  const written: string[] = [];
  return { written, speech: new Speech((text) => written.push(text)) };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function say(speech: Speech, count: number): void {
  for (let index = 0; index < count; index++) speech.say("x");
}

describe("what is said", () => {
  afterEach(() => vi.restoreAllMocks());

  test("in one turn goes out in one piece, at its end", async () => {
    const { written, speech } = listener();
    speech.say("a");
    speech.say("b");
    expect(written).toEqual([]);
    await turn();
    expect(written).toEqual(["ab"]);
    speech.say("c");
    await turn();
    expect(written).toEqual(["ab", "c"]);
  });

  test("in several turns goes out at the end of the last, in order and once", async () => {
    const { written, speech } = listener();
    for (const letter of ["a", "b", "c"]) {
      for (let index = 0; index < framesOfMany; index++) speech.say(letter);
      await turn();
      expect(written).toEqual([]);
    }
    speech.say("d");
    await turn();
    const all = [..."abc"].map((letter) => letter.repeat(framesOfMany)).join("");
    expect(written).toEqual([`${all}d`]);
    await turn();
    expect(written).toHaveLength(1);
  });

  test("goes out by itself when nothing follows", async () => {
    const { written, speech } = listener();
    say(speech, framesOfMany);
    await turn();
    expect(written).toEqual([]);
    await turn();
    expect(written).toEqual(["x".repeat(framesOfMany)]);
  });

  test("does not wait for those that come later while few come in each turn", async () => {
    const { written, speech } = listener();
    for (let index = 0; index < 3; index++) {
      say(speech, framesOfMany - 1);
      await turn();
    }
    expect(written.map(({ length }) => length)).toEqual([1, 1, 1].map(() => framesOfMany - 1));
  });

  test("however long it goes on, the first of it waits no longer than said", async () => {
    const { written, speech } = listener();
    let nowMs = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    const perTurnMs = heldFramesMs / 4;
    const pieces: number[] = [];
    for (let index = 0; index < 12; index++) {
      say(speech, framesOfMany);
      nowMs += perTurnMs;
      await turn();
      pieces.push(written.length);
    }
    expect(pieces).toEqual([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
    expect(written.join("").length).toBe(12 * framesOfMany);
  });
});
