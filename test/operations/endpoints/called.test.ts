/** What it takes to find endpoints by what their people call them, and for how long what was found holds. */
import { describe, expect, test } from "vitest";
import { endpointName } from "../../../src/core/endpoint/endpoint-name.js";
import { withCalled } from "../../../src/operations/endpoints/called.js";
import { endpointKey, jobKey } from "../../../src/operations/endpoints/records.js";
import type { StateReader, StoredObject } from "../../../src/persist/store.js";

const JOB_ID = "job_0000000000000000";

function idOf(place: number): string {
  return `ep_${`${place}`.padStart(16, "0")}`;
}

/** Endpoints of one job, and what is asked of who has them. */
class Kept {
  looks = 0;
  underWay = 0;
  mostUnderWay = 0;
  now = 1_000_000;
  names: readonly string[];

  constructor(names: readonly string[]) {
    this.names = names;
  }

  #stored: { readonly of: readonly string[]; readonly objects: readonly StoredObject[] } | null = null;

  readonly #reader: Pick<StateReader, "objects"> = {
    objects: async ({ prefix, after = "", limit }) => {
      if (prefix === "job/" && after === "") this.looks += 1;
      this.underWay += 1;
      this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
      await new Promise(setImmediate);
      this.underWay -= 1;
      const behind = this.#all().filter(({ key }) => key > after && key.startsWith(prefix));
      return behind.slice(0, limit);
    },
  };

  /** Places of those that are found. */
  async found(search: string): Promise<readonly number[] | null> {
    const asked = { identities: [], standings: [], tags: [], search };
    const filter = await withCalled(asked, this.#reader, () => this.now);
    if (filter === asked) return null;
    return (filter.called ?? []).map((identity) => {
      const { tenant, jobId, endpointId } = endpointName(identity) ?? {};
      expect([tenant, jobId]).toEqual(["acme", JOB_ID]);
      return Number(endpointId?.slice("ep_".length));
    });
  }

  #all(): readonly StoredObject[] {
    const of = this.names;
    if (this.#stored?.of !== of) this.#stored = { of, objects: storedOf(of) };
    return this.#stored.objects;
  }
}

function storedOf(names: readonly string[]): readonly StoredObject[] {
  const job = { key: jobKey("acme", JOB_ID), text: JSON.stringify({ name: "nightly" }), isIntact: true };
  const endpoints = names.map((name, place) => {
    const text = JSON.stringify({ jobId: JOB_ID, spec: { name } });
    return { key: endpointKey("acme", idOf(place)), text, isIntact: true };
  });
  return [job, ...endpoints];
}

describe("endpoints by what they are called", () => {
  test("whoever goes on writing is answered out of what was found, also while it is being looked for", async () => {
    const kept = new Kept(["prices", "price list", "stock"]);
    expect(await Promise.all(["pri", "pric", "price ", "prices"].map((text) => kept.found(text)))).toEqual([
      [0, 1],
      [0, 1],
      [1],
      [0],
    ]);
    expect(kept.looks).toBe(1);
    expect(await kept.found("nightly / st")).toEqual([2]);
    expect(kept.looks).toBe(2);
  });

  test("there is one look at a time, however many search", async () => {
    const kept = new Kept(["a", "b", "c"]);
    expect(await Promise.all(["a", "b", "c"].map((text) => kept.found(`/ ${text}`)))).toEqual([[0], [1], [2]]);
    expect([kept.looks, kept.mostUnderWay]).toEqual([3, 1]);
  });

  test("a question that finds none is asked as it is: a node of an earlier version knows no other", async () => {
    const kept = new Kept(["a"]);
    expect(await kept.found("x")).toBeNull();
  });

  test("what was found holds for a while, and not for longer because the clock was set back", async () => {
    const kept = new Kept(["prices"]);
    await kept.found("pri");
    kept.names = ["prices", "price list"];
    expect(await kept.found("pri")).toEqual([0]);
    kept.now += 1_000;
    expect(await kept.found("pri")).toEqual([0, 1]);
    kept.names = ["stock"];
    kept.now -= 3_600_000;
    expect(await kept.found("pri")).toBeNull();
  });

  test("where not all were taken that have a text, those with more of it are looked for anew", async () => {
    const kept = new Kept(Array.from({ length: 10_002 }, (_, place) => `n${place}`));
    expect((await kept.found("n"))?.length).toBe(10_000);
    expect(await kept.found("n10001")).toEqual([10_001]);
  });

  test("after a look that failed there is another", async () => {
    const kept = new Kept(["prices"]);
    const { names } = kept;
    Object.defineProperty(kept, "names", {
      configurable: true,
      get: () => {
        throw new Error("gone");
      },
    });
    await expect(kept.found("pri")).rejects.toThrow("gone");
    Object.defineProperty(kept, "names", { value: names });
    expect(await kept.found("pri")).toEqual([0]);
  });
});
