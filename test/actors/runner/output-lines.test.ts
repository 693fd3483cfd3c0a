import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { Allowance, LineSplitter, OUTPUT_LINE_LIMITS } from "../../../src/actors/runner/output-lines.js";
import { OUTPUT_TAIL_LIMITS, OutputTail } from "../../../src/actors/runner/output-tail.js";
import { temporaryDirectories } from "../../support/temporary.js";

const newDirectory = temporaryDirectories();

describe("bytes become lines", () => {
  test("however they are cut, also inside a character", () => {
    const bytes = Buffer.from("one\ntwø\r\n\nlast");
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const splitter = new LineSplitter();
      const lines = [
        ...splitter.push(bytes.subarray(0, cut)),
        ...splitter.push(bytes.subarray(cut)),
        ...splitter.end(),
      ];
      expect(lines).toEqual(["one", "twø", "", "last"]);
    }
  });

  test("a line has a bound, whether it ends or not, and a hole in a file is no line", () => {
    const splitter = new LineSplitter();
    for (let count = 0; count < 10; count += 1) expect(splitter.push(Buffer.from("x".repeat(4_000)))).toEqual([]);
    const [long, next] = splitter.push(Buffer.from("\n\0\0\0next\n"));
    expect([long?.length, next]).toEqual([OUTPUT_LINE_LIMITS.chars, "next"]);
  });
});

test("an allowance is used up at once and comes back with time, never beyond its size", () => {
  const allowance = new Allowance(3, 2, 0);
  const takes = (nowMs: number, count: number) => Array.from({ length: count }, () => allowance.take(nowMs));
  expect(takes(0, 4)).toEqual([true, true, true, false]);
  expect(takes(1_000, 3)).toEqual([true, true, false]);
  expect(takes(1_000_000, 4)).toEqual([true, true, true, false]);
  expect(takes(999_000, 1)).toEqual([false]);
});

describe("the end of a growing file", () => {
  function growing() {
    const file = path.join(newDirectory(), "run.log");
    return { file, tail: new OutputTail(file), grow: (text: string) => fs.appendFileSync(file, text) };
  }

  test("a file that is not there yet, that grows, that ends without a newline", () => {
    const { tail, grow } = growing();
    expect(tail.look()).toEqual({ lines: [], bytesLeftOut: 0 });
    grow("a\nb");
    expect(tail.look().lines).toEqual(["a"]);
    grow("c\nd");
    expect(tail.finish()).toEqual({ lines: ["bc", "d"], bytesLeftOut: 0 });
  });

  test("from its end on, for what was written before is told already", () => {
    const { tail, grow } = growing();
    grow("old\n");
    tail.skipToEnd();
    grow("new\n");
    expect(tail.finish().lines).toEqual(["new"]);
  });

  test("cut to its cap it goes on behind the cut", () => {
    const { file, tail, grow } = growing();
    grow("one\ntwo\nthree\n");
    expect(tail.look().lines).toHaveLength(3);
    fs.truncateSync(file, 4);
    expect(tail.look().lines).toEqual([]);
    grow("four\n");
    expect(tail.finish().lines).toEqual(["four"]);
  });

  test("too far behind, it leaves out and says how much: every byte is read or counted", () => {
    const { file, tail, grow } = growing();
    grow(`${"x".repeat(99)}\n`.repeat(100_000));
    const { lines, bytesLeftOut } = tail.look();
    expect(bytesLeftOut).toBe(10_000_000 - OUTPUT_TAIL_LIMITS.lookBytes);
    expect(lines.length).toBeGreaterThan(1_000);
    grow("end\n");
    expect(tail.finish().lines.at(-1)).toBe("end");
    expect(fs.existsSync(file)).toBe(true);
  });

  test("a file that is a link, or gone, is no trouble", () => {
    const directory = newDirectory();
    fs.symlinkSync("/etc/passwd", path.join(directory, "link"));
    expect(new OutputTail(path.join(directory, "link")).finish()).toEqual({ lines: [], bytesLeftOut: 0 });
    expect(new OutputTail(path.join(directory, "none")).finish()).toEqual({ lines: [], bytesLeftOut: 0 });
  });
});
