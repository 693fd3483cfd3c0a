import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LAUNCHER_LIMITS } from "../../../src/actors/launcher/child/limits.js";
import { type DaemonFrame, encodeFrame, FrameReader, ProtocolError } from "../../../src/actors/launcher/protocol.js";

describe("FrameReader", () => {
  test("puts together whatever the stream was cut into", () => {
    const frame = fc.record({ t: fc.constant("abort" as const), id: fc.string({ unit: "binary", maxLength: 40 }) });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 50 })), (frames, cuts) => {
        const reader = new FrameReader<DaemonFrame>();
        const seen: DaemonFrame[] = [];
        let bytes = Buffer.from(frames.map(encodeFrame).join(""));
        for (const cut of cuts) {
          seen.push(...reader.push(Buffer.from(bytes.subarray(0, cut))));
          bytes = bytes.subarray(cut);
        }
        seen.push(...reader.push(bytes));
        expect(seen).toEqual(frames);
      }),
      { seed: 20_261_118, numRuns: 300 },
    );
  });

  test.each<[name: string, line: string]>([
    ["no JSON", "hello\n"],
    ["no object", "7\n"],
    ["nothing", "\n"],
    ["null", "null\n"],
    ["an object without a kind", "{}\n"],
    ["a kind that is no text", '{"t":1}\n'],
  ])("breaks on a line that is no frame: %s", (_, line) => {
    expect(() => new FrameReader<DaemonFrame>().push(Buffer.from(line))).toThrow(ProtocolError);
  });

  test("breaks on a frame beyond the limit, before it is complete", () => {
    const reader = new FrameReader<DaemonFrame>();
    const piece = Buffer.alloc(LAUNCHER_LIMITS.frameBytes / 4, 0x20);
    for (let i = 0; i < 4; i++) expect(reader.push(piece)).toEqual([]);
    expect(() => reader.push(piece)).toThrow(ProtocolError);
  });
});
