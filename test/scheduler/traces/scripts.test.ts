import { describe, expect, test } from "vitest";
import { SCRIPTS } from "./support/scripts.js";
import { KRON } from "./support/subject.js";
import { play } from "./support/world.js";

describe("P1-P26, L1-L4 hold at awkward moments", () => {
  test.each(SCRIPTS)("$name", async (script) => {
    const byName = await play(KRON, script);
    const whole = await play(KRON, { ...script, offersByName: false });
    expect([...byName.violations, ...byName.programErrors]).toEqual([]);
    expect([...whole.violations, ...whole.programErrors]).toEqual([]);
  });
});
