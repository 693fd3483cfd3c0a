/** What every store promises, whatever it is made of. A backend that passes may be exchanged for any other. */
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { KronError } from "../../src/core/base/errors/kron-error.js";
import type { Result } from "../../src/core/base/result.js";
import { endpointIdentity } from "../../src/core/endpoint/endpoint-name.js";
import { goneKey } from "../../src/core/endpoint/gone.js";
import type { StoredJob } from "../../src/core/restart/resting.js";
import { newDocument } from "../../src/core/state/document.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import { DAY_MS } from "../../src/core/time/instant.js";
import { ALL_KEYS, keyRanges } from "../../src/persist/key-range.js";
import { documentKey } from "../../src/persist/keys.js";
import type { LockTerm } from "../../src/persist/lock.js";
import { sweepAlive, sweepGone, sweepLedger } from "../../src/persist/retention.js";
import {
  type Batch,
  currentDefinitions,
  type LedgerPage,
  type OpenedStore,
  type StateReader,
  type StateStore,
} from "../../src/persist/store.js";

/** One place that keeps state while stores on it come and go. */
export interface ContractPlace {
  acquire(): Promise<Result<LockTerm, KronError>>;
  open(term: LockTerm): Promise<OpenedStore>;
}

export function must<T, E>(result: Result<T, E>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

export async function documentsOf(store: StateReader): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const page of store.documents()) for (const entry of page) found[entry.key] = entry.text;
  return found;
}

const JOB = "prod/db-backup";
const OTHER = "prod/ping";
const at = (minute: number): number => Date.UTC(2026, 2, 1) + minute * 60_000;
const document = (identity: string, text: string) => ({ key: documentKey(identity), text });
const record = (identity: string, minute: number, text: string, kind = "period") => ({
  identity,
  at: at(minute),
  kind,
  text,
});

/** Where nobody counts bytes: what lies in a thousand files, or nowhere. */
const UNCOUNTED = ["files", "memory"];

/** `bulk`: how many entries are a large batch for this backend. */
export function describeStoreContract(name: string, bulk: number, newPlace: () => ContractPlace): void {
  const open: { store: StateStore; term: LockTerm }[] = [];
  afterEach(async () => {
    for (const { store, term } of open.splice(0)) {
      await store.close();
      await term.release();
    }
  });

  async function start(place: ContractPlace): Promise<{ store: StateStore; term: LockTerm }> {
    const term = must(await place.acquire());
    const opened = { store: must(await place.open(term)), term };
    open.push(opened);
    return opened;
  }

  async function stop(it: { store: StateStore; term: LockTerm }): Promise<void> {
    open.splice(open.indexOf(it), 1);
    await it.store.close();
    await it.term.release();
  }

  /** A store with these batches in it, opened again since. */
  async function reopenedWith(
    ...batches: Batch[]
  ): Promise<{ store: StateStore; term: LockTerm; place: ContractPlace }> {
    const place = newPlace();
    const first = await start(place);
    for (const batch of batches) await first.store.commit(first.term, batch);
    await stop(first);
    return { ...(await start(place)), place };
  }

  const isUncounted = UNCOUNTED.includes(name);

  describe(`store contract: ${name}`, () => {
    describe("documents (S30)", () => {
      test("a text comes back as it was written, byte for byte, also after the store was opened again", async () => {
        const texts = ['{"a":1}', "", "äöü € 𝄞 \u0001 \u2028", "x".repeat(100_000)];
        const documents = texts.map((text, index) => document(`job/${index}`, text));
        const { store } = await reopenedWith({ documents });
        const found = await Promise.all(texts.map((_, index) => store.get(`job/${index}`)));
        expect(found).toEqual(documents.map((it) => ({ ...it, isIntact: true })));
      });

      test("a document as bytes", async () => {
        const { store } = await reopenedWith({ documents: [document(JOB, "ä")] });
        const bytes = [await store.bytes(documentKey(JOB)), await store.bytes(documentKey(OTHER))];
        expect(bytes).toEqual([Buffer.from("ä"), undefined]);
      });

      test("an unknown identity has no document", async () => {
        const { store } = await reopenedWith({});
        expect([await store.get(JOB), await documentsOf(store)]).toEqual([undefined, {}]);
      });

      test("documents of different identities do not touch each other", async () => {
        const { store } = await reopenedWith(
          { documents: [document(JOB, "1"), document(OTHER, "1")] },
          { documents: [document(JOB, "2")] },
          { documents: [document("gone", "1")] },
          { documents: [{ key: documentKey("gone"), text: null }] },
        );
        expect(await documentsOf(store)).toEqual({ [documentKey(JOB)]: "2", [documentKey(OTHER)]: "1" });
      });

      test("identities that are neighbours in every respect stay apart", async () => {
        const identities = ["a", "A", "a ", " a", "ä", "a/b", "a\u0301", "á", "a".repeat(512)];
        const { store } = await reopenedWith({ documents: identities.map((it) => document(it, it)) });
        const texts = await Promise.all(identities.map(async (it) => (await store.get(it))?.text));
        expect(texts).toEqual(identities);
      });

      test("a large batch of documents comes back in key order and in pages", async () => {
        const documents = Array.from({ length: bulk }, (_, index) => document(`job/${index}`, `{"n":${index}}`));
        const { store, term } = await start(newPlace());
        await store.commit(term, { documents });
        const pages: string[][] = [];
        for await (const page of store.documents()) pages.push(page.map((entry) => entry.key));
        expect(pages.flat()).toEqual(documents.map((it) => it.key).sort());
        expect(pages.length).toBeGreaterThan(1);
      });
    });

    test("its size, where anybody counts it, grows with what is in it, and is that of all of it for every view", async () => {
      const { store, term } = await start(newPlace());
      const empty = await store.size();
      const text = randomBytes(20_000).toString("hex");
      await store.commit(term, { documents: Array.from({ length: 50 }, (_, index) => document(`job/${index}`, text)) });
      const filled = await store.size();
      expect([empty, filled].map((bytes) => bytes === null)).toEqual([isUncounted, isUncounted]);
      const ofPart = await store.inRange({ from: "0", to: "1" }).size();
      if (empty === null || filled === null || ofPart === null) return;
      expect(Math.min(filled, ofPart) - empty).toBeGreaterThan(100_000);
    });

    describe("commits", () => {
      test("all of a batch is visible once its promise has resolved, and never a part of it", async () => {
        const { store, term } = await start(newPlace());
        const commit = store.commit(term, { documents: [document(JOB, "1")], ledger: [record(JOB, 1, "run")] });
        const early = [(await store.get(JOB)) === undefined, (await store.ledgerLatest(JOB, 1)).length === 0];
        await commit;
        const late = [(await store.get(JOB))?.text, (await store.ledgerLatest(JOB, 1)).length];
        // Reading the document first: seeing it means that the ledger, read later, has its record.
        expect([early, late]).not.toEqual([[false, true], expect.anything()]);
        expect(late).toEqual(["1", 1]);
      });

      test("commits of one turn and overlapping commits are applied in the order of the calls", async () => {
        const { store, term } = await start(newPlace());
        const commits = Array.from({ length: 50 }, (_, n) =>
          store.commit(term, { documents: [document(JOB, `${n}`)] }),
        );
        await commits[0];
        commits.push(store.commit(term, { documents: [document(JOB, "last")] }));
        await Promise.all(commits);
        expect((await store.get(JOB))?.text).toBe("last");
      });

      test("within one batch the later write of a document wins, and removals come first", async () => {
        const { store } = await reopenedWith(
          { ledger: [record(JOB, 1, "old")] },
          {
            documents: [document(JOB, "1"), document(JOB, "2")],
            ledger: [record(JOB, 1, "new")],
            removed: { ledger: [{ identity: JOB, at: at(1), kind: "period" }] },
          },
        );
        const texts = [(await store.get(JOB))?.text, (await store.ledgerLatest(JOB, 9)).map((it) => it.text)];
        expect(texts).toEqual(["2", ["new"]]);
      });

      test("an empty batch is all right", async () => {
        const { store, term } = await start(newPlace());
        await store.commit(term, {});
        expect(await store.counts()).toEqual({ documents: 0, ledger: 0, definitions: 0 });
      });

      test("closing waits for commits under way", async () => {
        const place = newPlace();
        const first = await start(place);
        const commit = first.store.commit(first.term, { documents: [document(JOB, "1")] });
        await stop(first);
        await commit;
        const { store } = await start(place);
        expect((await store.get(JOB))?.text).toBe("1");
      });

      const broken: readonly { name: string; batch: Batch; message: RegExp }[] = [
        { name: "an empty identity", batch: { ledger: [record("", 1, "")] }, message: /identity ""/ },
        {
          name: "a line break in an identity",
          batch: { ledger: [record("a\nb", 1, "")] },
          message: /identity "a\\nb"/,
        },
        {
          name: "a kind that is no name",
          batch: { ledger: [record(JOB, 1, "", "a/b")] },
          message: /ledger kind "a\/b"/,
        },
        { name: "an instant that is no integer", batch: { ledger: [record(JOB, 0.00001, "")] }, message: /instant/ },
        { name: "a meta key with a slash", batch: { meta: [{ key: "store/id", text: "" }] }, message: /meta key/ },
        { name: "an alive span without a time", batch: { alive: { bootedAt: Number.NaN, at: 1 } }, message: /instant/ },
      ];
      for (const row of broken) {
        test(`a batch that breaks the rules throws before anything is written: ${row.name}`, async () => {
          const { store, term } = await start(newPlace());
          const batch = { documents: [document(JOB, "1")], ...row.batch };
          expect(() => store.commit(term, batch)).toThrow(row.message);
          expect(await store.get(JOB)).toBeUndefined();
        });
      }
    });

    describe("claims", () => {
      const run = (identity: string, minute: number, text = "mine") => record(identity, minute, text, "run");
      const claim = (identity: string, minute: number, token = "mine") => {
        const { at, kind } = run(identity, minute);
        return { key: { identity, at, kind }, token };
      };
      const claiming = (identity: string, minute: number, token: string): Batch => ({
        documents: [document(identity, token)],
        ledger: [run(identity, minute, token)],
        claims: [claim(identity, minute, token)],
      });
      const told = async (store: StateReader, identity: string) => [
        (await store.get(identity))?.text,
        ...(await store.ledgerLatest(identity, 9)).map((it) => it.text),
      ];

      test("what nobody has is had by whoever asks first, for all time", async () => {
        const { store, term, place } = await reopenedWith({});
        const first = await store.commit(term, claiming(JOB, 1, "mine"));
        const second = await store.commit(term, claiming(JOB, 1, "other"));
        await store.close();
        await term.release();
        const again = await start(place);
        const third = await again.store.commit(again.term, claiming(JOB, 1, "third"));
        expect([first, second, third]).toEqual([[], [claim(JOB, 1, "other")], [claim(JOB, 1, "third")]]);
        expect(await told(again.store, JOB)).toEqual(["mine", "mine"]);
      });

      test("a record that was put there before refuses it, whatever it says; one of another name does not", async () => {
        const { store, term } = await reopenedWith({ ledger: [run(JOB, 1, ""), record(JOB, 2, "other kind")] });
        const refused = await store.commit(term, claiming(JOB, 1, "mine"));
        const granted = [
          await store.commit(term, claiming(JOB, 2, "mine")),
          await store.commit(term, claiming(OTHER, 1, "mine")),
        ];
        expect([refused, granted]).toEqual([[claim(JOB, 1)], [[], []]]);
      });

      test("of a batch with a refused claim nothing is written, and all that were refused are named", async () => {
        const { store, term } = await reopenedWith({ ledger: [run(JOB, 1, "there"), run(OTHER, 1, "there")] });
        const identities = [JOB, "free", OTHER];
        const batch: Batch = {
          documents: identities.map((it) => document(it, "new")),
          ledger: identities.map((it) => run(it, 1, "new")),
          claims: identities.map((it) => claim(it, 1)),
          definitions: [{ identity: "free", definedAt: at(1), text: "new" }],
          meta: [{ key: "note", text: "new" }],
          objects: [{ key: "object", text: "new" }],
          alive: { bootedAt: at(0), at: at(1) },
        };
        const refused = await store.commit(term, batch);
        const found = await Promise.all(identities.map((it) => told(store, it)));
        expect([refused, found]).toEqual([
          [claim(JOB, 1), claim(OTHER, 1)],
          [[undefined, "there"], [undefined], [undefined, "there"]],
        ]);
        expect([await store.newestVersion("free"), await store.notes()]).toEqual([undefined, []]);
        expect(await store.object("object")).toBeUndefined();
      });

      test("a refusal is no failure: what goes along with it and what comes after it is written", async () => {
        const { store, term } = await reopenedWith({ ledger: [run(JOB, 1, "there")] });
        const answers = await Promise.all([
          store.commit(term, claiming(OTHER, 1, "before")),
          store.commit(term, claiming(JOB, 1, "mine")),
          store.commit(term, claiming("third", 1, "after")),
        ]);
        await store.commit(term, { documents: [document(JOB, "later")] });
        const found = await Promise.all([JOB, OTHER, "third"].map((it) => told(store, it)));
        expect([answers, found]).toEqual([
          [[], [claim(JOB, 1)], []],
          [
            ["later", "there"],
            ["before", "before"],
            ["after", "after"],
          ],
        ]);
      });

      test("of batches that become durable together the earlier one has what both claim", async () => {
        const { store, term } = await start(newPlace());
        const answers = await Promise.all([
          store.commit(term, claiming(JOB, 1, "first")),
          store.commit(term, claiming(JOB, 1, "second")),
        ]);
        expect([answers, await told(store, JOB)]).toEqual([
          [[], [claim(JOB, 1, "second")]],
          ["first", "first"],
        ]);
      });

      test("the end of a run replaces the record of its claim, and is none itself", async () => {
        const { store, term } = await start(newPlace());
        await store.commit(term, claiming(JOB, 1, "begun"));
        const ended = await store.commit(term, { ledger: [run(JOB, 1, "ended")] });
        expect([ended, await told(store, JOB)]).toEqual([[], ["begun", "ended"]]);
      });

      test("a claim without its record, or made twice, is a broken invariant", async () => {
        const { store, term } = await start(newPlace());
        const [ledger, one] = [[run(JOB, 1)], claim(JOB, 1)];
        expect(() => store.commit(term, { ledger: [run(JOB, 2)], claims: [one] })).toThrow(/without its record/);
        expect(() => store.commit(term, { ledger, claims: [one, one] })).toThrow(/without its record/);
      });
    });

    describe("jobs, and stretches of the keys", () => {
      const identities = Array.from({ length: 700 }, (_, index) => `job/${index}`);
      const keyed = [...identities].sort((left, right) => (documentKey(left) < documentKey(right) ? -1 : 1));
      const filled: Batch = {
        documents: identities.filter((_, index) => index % 3 !== 0).map((it) => document(it, `document of ${it}`)),
        ledger: identities.map((it) => record(it, 1, it)),
        definitions: identities
          .filter((_, index) => index % 3 !== 1)
          .flatMap((it) =>
            [1, 2].map((minute) => ({ identity: it, definedAt: at(minute), text: `${minute} of ${it}` })),
          ),
      };
      const documentOf = (it: string): string | null => (numberOf(it) % 3 === 0 ? null : `document of ${it}`);
      const definitionOf = (it: string): string | null => (numberOf(it) % 3 === 1 ? null : `2 of ${it}`);
      const numberOf = (it: string): number => Number(it.slice("job/".length));
      const expected = keyed.map((it) => ({
        key: documentKey(it),
        documentText: documentOf(it),
        isDocumentIntact: true,
        identity: definitionOf(it) === null ? null : it,
        definitionText: definitionOf(it),
        isDefinitionIntact: true,
      }));

      async function jobsOf(store: StateReader): Promise<StoredJob[]> {
        const found: StoredJob[] = [];
        for await (const slice of store.jobs()) found.push(...slice);
        return found;
      }

      /** Everything that iterations and counts tell, as one comparable value. */
      async function toldBy(store: StateReader) {
        const definitions: string[] = [];
        for await (const page of store.definitions())
          definitions.push(...page.map((it) => `${it.identity} ${it.text}`));
        const ledger: string[] = [];
        for (let cursor: string | null = null; ; ) {
          const page: LedgerPage = await store.ledgerScan(cursor, 300);
          ledger.push(...page.records.map((it) => it.text));
          cursor = page.next;
          if (cursor === null) break;
        }
        const { documents: count, ...counts } = await store.counts();
        const documents = Object.keys(await documentsOf(store));
        expect({ count, ...counts }).toEqual({
          count: documents.length,
          ledger: ledger.length,
          definitions: definitions.length,
        });
        return { documents, definitions, ledger };
      }

      test("every job that has a document or a definition, in the order of the keys, in slices", async () => {
        const { store } = await reopenedWith(filled);
        expect(await jobsOf(store)).toEqual(expected);
        const sizes: number[] = [];
        for await (const slice of store.jobs()) sizes.push(slice.length);
        expect(Math.max(...sizes)).toBeLessThan(identities.length);
      });

      test("a job that was removed has no definition and is still known", async () => {
        const { store } = await reopenedWith({ definitions: [{ identity: JOB, definedAt: at(1), text: null }] });
        expect(await jobsOf(store)).toMatchObject([{ identity: JOB, definitionText: null, documentText: null }]);
      });

      test("stretches hold every job once, whatever they are made of", async () => {
        const { store } = await reopenedWith(filled);
        const whole = await toldBy(store);
        for (const count of [1, 5]) {
          const views = keyRanges(count).map((range) => store.inRange(range));
          const jobs = await Promise.all(views.map(jobsOf));
          const told = await Promise.all(views.map(toldBy));
          expect(jobs.flat()).toEqual(expected);
          expect(told.flatMap((it) => it.documents)).toEqual(whole.documents);
          expect(told.flatMap((it) => it.definitions).sort()).toEqual([...whole.definitions].sort());
          expect(told.flatMap((it) => it.ledger).sort()).toEqual([...whole.ledger].sort());
        }
      });

      test("a stretch of a stretch is its part of it", async () => {
        const { store } = await reopenedWith(filled);
        const [, second] = keyRanges(2);
        if (second === undefined) throw new Error("no second half");
        const parts = keyRanges(3, second).map((range) => store.inRange(range));
        const found = (await Promise.all(parts.map(jobsOf))).flat();
        expect(found).toEqual(await jobsOf(store.inRange(second)));
        expect(found.length).toBeGreaterThan(identities.length / 4);
      });

      test("what is written through a stretch is written to the store, and closing one closes it", async () => {
        const { store, term } = await start(newPlace());
        const view = store.inRange(ALL_KEYS);
        await view.commit(term, { documents: [document(JOB, "1")] });
        expect((await store.get(JOB))?.text).toBe("1");
        await view.close();
        await expect(store.get(JOB)).rejects.toThrow(/closed store/);
      });
    });

    describe("the lock (S33)", () => {
      test("a term that nobody takes away is not lost", async () => {
        const { term } = await start(newPlace());
        expect(await Promise.race([term.lost, Promise.resolve("held")])).toBe("held");
      });

      test("a write with a released term is a broken invariant", async () => {
        const { store, term } = await start(newPlace());
        const released = term.release();
        expect(() => store.commit(term, { documents: [document(JOB, "1")] })).toThrow(/released lock term/);
        await released;
      });

      test("a write with the term of another place is a broken invariant", async () => {
        const { store } = await start(newPlace());
        const elsewhere = must(await newPlace().acquire());
        expect(() => store.commit(elsewhere, {})).toThrow(/with the lock term of/);
        await elsewhere.release();
      });

      test("opening with a released term is a broken invariant", async () => {
        const place = newPlace();
        const term = must(await place.acquire());
        await term.release();
        await expect(place.open(term)).rejects.toThrow(/released lock term/);
      });

      test("a second holder is refused until the first released its term", async () => {
        const place = newPlace();
        const first = await start(place);
        const second = await place.acquire();
        await stop(first);
        const third = await place.acquire();
        expect([second.ok ? "" : second.error.code, third.ok]).toEqual(["lock-held", true]);
        await must(third).release();
      });

      test("a closed store is not used any more", async () => {
        const { store, term } = await start(newPlace());
        await store.close();
        expect(() => store.commit(term, {})).toThrow(/closed store/);
        await expect(store.get(JOB)).rejects.toThrow(/closed store/);
        await store.close();
      });
    });

    describe("ledger (S36)", () => {
      const records = [1, 2, 3, 4, 5].map((minute) => record(JOB, minute, `run ${minute}`));
      const filled: Batch = {
        ledger: [...records, record(OTHER, 2, "other"), record(JOB, 3, "by hand", "slot:manual")],
      };
      const texts = (found: readonly { text: string }[]): string[] => found.map((it) => it.text);

      const latest: readonly { name: string; limit: number; before?: number; expected: string[] }[] = [
        { name: "the newest three", limit: 3, expected: ["run 5", "run 4", "by hand"] },
        {
          name: "all when there are fewer",
          limit: 99,
          expected: ["run 5", "run 4", "by hand", "run 3", "run 2", "run 1"],
        },
        { name: "those before an instant, without it", limit: 2, before: at(3), expected: ["run 2", "run 1"] },
        { name: "none before the first", limit: 2, before: at(1), expected: [] },
        { name: "none at all", limit: 0, expected: [] },
      ];
      for (const row of latest) {
        test(`latest: ${row.name}`, async () => {
          const { store } = await reopenedWith(filled);
          expect(texts(await store.ledgerLatest(JOB, row.limit, row.before))).toEqual(row.expected);
        });
      }

      test("a completion replaces the record of its start", async () => {
        const { store } = await reopenedWith(
          { ledger: [record(JOB, 1, "start")] },
          { ledger: [record(JOB, 1, "end")] },
        );
        expect([texts(await store.ledgerLatest(JOB, 9)), (await store.counts()).ledger]).toEqual([["end"], 1]);
      });

      test("instants sort as numbers do, before 1970 too", async () => {
        const instants = [-62_167_219_200_000, -1, 0, 1, 999, 1000, 253_402_300_799_999];
        const ledger = instants.map((it) => ({ identity: JOB, at: it, kind: "period", text: "" })).reverse();
        const { store } = await reopenedWith({ ledger });
        const found = await store.ledgerLatest(JOB, 99);
        expect(found.map((it) => it.at).reverse()).toEqual(instants);
      });

      test("a scan sees every record once, each identity newest first, whatever the page size", async () => {
        const { store } = await reopenedWith(filled);
        const seen: string[][] = [];
        for (const limit of [1, 2, 7, 100]) {
          const found: string[] = [];
          let cursor: string | null = null;
          do {
            const page = await store.ledgerScan(cursor, limit);
            found.push(...page.records.map((it) => `${it.identity} ${it.text}`));
            cursor = page.next;
          } while (cursor !== null);
          seen.push(found);
        }
        expect(seen).toEqual(seen.map(() => seen[0]));
        expect([...(seen[0] ?? [])].sort()).toEqual(filled.ledger?.map((it) => `${it.identity} ${it.text}`).sort());
        expect(seen[0]?.filter((it) => it.startsWith(JOB)).map((it) => it.slice(JOB.length + 1))).toEqual(
          latest[1]?.expected,
        );
      });

      test("property: the latest agree with sorting a list", async () => {
        const { store, term } = await start(newPlace());
        const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 40 });
        let round = 0;
        await fc.assert(
          fc.asyncProperty(minutes, fc.nat(500), fc.nat(20), async (chosen, before, limit) => {
            round += 1;
            const identity = `property/${round}`;
            await store.commit(term, { ledger: chosen.map((minute) => record(identity, minute, `${minute}`)) });
            const sorted = [...chosen].sort((left, right) => right - left);
            const earlier = sorted.filter((it) => it < before).slice(0, limit);
            const newest = await store.ledgerLatest(identity, limit, at(before));
            expect(texts(newest)).toEqual(earlier.map(String));
          }),
          { numRuns: 40, seed: 7 },
        );
      });
    });

    describe("definitions (S16, S36)", () => {
      const version = (identity: string, minute: number, text: string | null) => ({
        identity,
        definedAt: at(minute),
        text,
      });
      const filled: Batch = {
        definitions: [
          version(JOB, 1, "first"),
          version(JOB, 5, "second"),
          version(OTHER, 1, "kept"),
          version(OTHER, 3, null),
        ],
      };

      const rows: readonly { name: string; identity: string; expected: string | null | undefined }[] = [
        { name: "the newest one", identity: JOB, expected: "second" },
        { name: "of a removed job: a tombstone", identity: OTHER, expected: null },
        { name: "of an unknown job: none", identity: "unknown", expected: undefined },
      ];
      for (const row of rows) {
        test(`the version in force: ${row.name}`, async () => {
          const { store } = await reopenedWith(filled);
          expect((await store.newestVersion(row.identity))?.text).toBe(row.expected);
        });
      }

      test("the version in force is the newest, whatever the clock says, and complete", async () => {
        const future = version(JOB, 50_000_000, "to come");
        const { store } = await reopenedWith(filled, { definitions: [future] });
        expect(await store.newestVersion(JOB)).toEqual({ ...future, isIntact: true });
      });

      test("all versions of a job, oldest first", async () => {
        const { store } = await reopenedWith(filled);
        expect(await store.definitionVersions(OTHER)).toEqual([
          { ...version(OTHER, 1, "kept"), isIntact: true },
          { ...version(OTHER, 3, null), isIntact: true },
        ]);
      });

      test("all versions of all jobs, each job newest first", async () => {
        const { store } = await reopenedWith(filled);
        const listed: string[] = [];
        for await (const page of store.definitions()) listed.push(...page.map((it) => `${it.identity}: ${it.text}`));
        const of = (identity: string) => listed.filter((it) => it.startsWith(identity));
        expect([of(JOB), of(OTHER), listed.length]).toEqual([
          [`${JOB}: second`, `${JOB}: first`],
          [`${OTHER}: null`, `${OTHER}: kept`],
          4,
        ]);
      });

      test("S16: a removed job is no longer listed, but keeps its document and its ledger", async () => {
        const { store } = await reopenedWith(filled, {
          documents: [document(OTHER, "kept")],
          ledger: [record(OTHER, 1, "kept")],
        });
        const listed: string[] = [];
        for await (const page of currentDefinitions(store))
          listed.push(...page.map((it) => `${it.identity}: ${it.text}`));
        const kept = [(await store.get(OTHER))?.text, (await store.ledgerLatest(OTHER, 1))[0]?.text];
        expect([listed, kept]).toEqual([[`${JOB}: second`], ["kept", "kept"]]);
      });

      test("many jobs with two versions each are listed once, with the newer one", async () => {
        const { store, term } = await start(newPlace());
        const identities = Array.from({ length: bulk }, (_, index) => `job/${index}`);
        await store.commit(term, {
          definitions: identities.flatMap((it) => [version(it, 1, "old"), version(it, 2, it)]),
        });
        const listed: (string | null)[] = [];
        for await (const page of currentDefinitions(store)) listed.push(...page.map((it) => it.text));
        expect(listed.sort()).toEqual(identities.sort());
      });
    });

    describe("notes and alive marks (S5, S36)", () => {
      test("notes are kept, replaced and removed", async () => {
        const { store } = await reopenedWith(
          {
            meta: [
              { key: "zone-spans", text: "1" },
              { key: "other", text: "1" },
            ],
          },
          {
            meta: [
              { key: "zone-spans", text: "2" },
              { key: "other", text: null },
            ],
          },
        );
        expect(await store.notes()).toEqual([{ key: "zone-spans", text: "2" }]);
        expect([await store.meta("zone-spans"), await store.meta("other"), await store.meta("id")]).toEqual([
          "2",
          undefined,
          undefined,
        ]);
      });

      test("each daemon's span grows with its marks; spans that touch a range are found", async () => {
        const { store } = await reopenedWith(
          { alive: { bootedAt: at(0), at: at(0) } },
          { alive: { bootedAt: at(0), at: at(10) } },
          { alive: { bootedAt: at(20), at: at(30) } },
          { alive: { bootedAt: at(40), at: at(50) } },
        );
        const span = (from: number, to: number) => ({ bootedAt: at(from), at: at(to) });
        expect(await store.aliveSpans(null, at(0), at(60))).toEqual([span(0, 10), span(20, 30), span(40, 50)]);
        expect(await store.aliveSpans(null, at(10), at(20))).toEqual([span(0, 10)]);
        expect(await store.aliveSpans(null, at(31), at(40))).toEqual([]);
        expect(await store.aliveSpans(null, at(25), at(26))).toEqual([span(20, 30)]);
        // One daemon at a time looks after every job.
        expect(await store.aliveSpans(JOB, at(10), at(20))).toEqual([span(0, 10)]);
      });
    });

    describe("objects of hosts", () => {
      const objects = (...keys: string[]) => keys.map((key) => ({ key, text: `text of ${key}` }));
      const stored = (...keys: string[]) => objects(...keys).map((it) => ({ ...it, isIntact: true }));

      test("are kept, replaced and removed, beside notes of the same name", async () => {
        const { store } = await reopenedWith(
          { objects: [...objects("tenant/a", "tenant/b"), { key: "note", text: "of a host" }] },
          {
            meta: [{ key: "note", text: "of Kron" }],
            objects: [
              { key: "tenant/a", text: "" },
              { key: "tenant/b", text: null },
              { key: "tenant/never", text: null },
            ],
          },
        );
        const found = await Promise.all(["tenant/a", "tenant/b", "note", "never"].map((key) => store.object(key)));
        expect(found.map((it) => it?.text)).toEqual(["", undefined, "of a host", undefined]);
        expect(await store.notes()).toEqual([{ key: "note", text: "of Kron" }]);
      });

      test("of several writes of one batch the last one counts", async () => {
        const batch: Batch = { objects: [...objects("a"), { key: "a", text: null }, { key: "a", text: "last" }] };
        const { store } = await reopenedWith(batch, {});
        expect(await store.objects({ prefix: "", limit: 9 })).toEqual([{ key: "a", text: "last", isIntact: true }]);
      });

      test("are listed by the beginning of their names, in the order of bytes, page by page", async () => {
        // No letter of a name sorts as another does: neither by language nor behind a slash.
        const keys = ["t", "t-x", "t.x", "t/", "t/1", "t/1/x", "t/10", "t/2", "t0", "t:x", "t_x", "ta", "t~x", "u/1"];
        const { store } = await reopenedWith({ objects: objects(...[...keys].reverse()) }, {});
        const listed = async (prefix: string, limit: number, after?: string) => {
          const found = await store.objects({ prefix, limit, ...(after === undefined ? {} : { after }) });
          return found.map(({ key }) => key);
        };
        expect(await listed("", 99)).toEqual([...keys].sort());
        expect(await listed("t/", 99)).toEqual(["t/", "t/1", "t/1/x", "t/10", "t/2"]);
        expect([await listed("t/", 2), await listed("t/", 2, "t/1"), await listed("t/", 9, "t/10")]).toEqual([
          ["t/", "t/1"],
          ["t/1/x", "t/10"],
          ["t/2"],
        ]);
        // Where the last page ended is no name that must still be there, nor one that begins so.
        expect([await listed("t/", 1, "t/0"), await listed("t/", 1, "a"), await listed("t/", 1, "z")]).toEqual([
          ["t/1"],
          ["t/"],
          [],
        ]);
        expect(await store.objects({ prefix: "u", limit: 1 })).toEqual(stored("u/1"));
      });

      test("every view of a store has them all, and texts keep every character", async () => {
        const text = `line\nline "quoted" äöü € ${"x".repeat(3_000)}`;
        const { store } = await reopenedWith({ objects: [{ key: "a", text }] }, {});
        const [half = ALL_KEYS] = keyRanges(2);
        expect(await store.inRange(half).object("a")).toEqual({ key: "a", text, isIntact: true });
      });

      test("a name that no backend could keep is a broken invariant", async () => {
        const { store, term } = await start(newPlace());
        for (const key of ["", "A", "/a", "a b", "ä", "a\n", "a".repeat(201)]) {
          expect(() => store.commit(term, { objects: [{ key, text: "" }] })).toThrow(/object key/);
        }
      });
    });

    describe("retention", () => {
      test("drops by age and by count in bounded steps, and never the newest definition", async () => {
        const ledger = Array.from({ length: 700 }, (_, minute) => [
          record(JOB, minute, "x"),
          record(OTHER, minute, "x"),
        ]);
        const versions = [1, 650, 699].map((minute) => ({ identity: JOB, definedAt: at(minute), text: `${minute}` }));
        const { store, term } = await reopenedWith({ ledger: ledger.flat(), definitions: versions });
        const steps: number[] = [];
        let position = null;
        do {
          const rule = { olderThan: at(690), keepPerIdentity: 5 };
          const step = await sweepLedger(store, term, rule, position);
          position = step.next;
          steps.push(step.looked);
        } while (position !== null);
        const minutes = (await store.ledgerLatest(JOB, 999)).map((it) => (it.at - at(0)) / 60_000);
        const kept = await store.definitionVersions(JOB);
        expect([steps, minutes, (await store.counts()).ledger, kept.map((it) => it.text)]).toEqual([
          [1000, 400],
          [699, 698, 697, 696, 695],
          10,
          ["650", "699"],
        ]);
      });

      test("what goes at once is old, and what belongs to it goes along", async () => {
        const days = Array.from({ length: 120 }, (_, day) => ({ ...record(JOB, 0, "x"), at: at(0) + day * DAY_MS }));
        const before = days[90]?.at ?? 0;
        const { store, term } = await reopenedWith({
          ledger: [...days, { ...record(OTHER, 0, "ancient"), at: -1 }],
          objects: days.map((it) => ({ key: `of/${it.at}`, text: "" })),
        });
        await store.dropLedger(term, before, (records) => ({
          objects: records.map((it) => ({ key: `of/${it.at}`, text: null })),
        }));
        const left = new Set((await store.ledgerLatest(JOB, 999)).map((it) => it.at));
        const objects = (await store.objects({ prefix: "of/", limit: 999 })).map(({ key }) => Number(key.slice(3)));
        expect(days.filter((it) => it.at >= before && !left.has(it.at))).toEqual([]);
        expect(objects).toEqual(days.map((it) => it.at).filter((it) => left.has(it)));
        // What goes at once can be written again.
        await store.commit(term, { ledger: [{ ...record(JOB, 0, "again"), at: days[0]?.at ?? 0 }] });
        expect((await store.ledgerLatest(JOB, 1, (days[0]?.at ?? 0) + 1))[0]?.text).toBe("again");
      });

      test("drops spans of daemons that ended long ago", async () => {
        const { store, term } = await reopenedWith(
          { alive: { bootedAt: at(0), at: at(10) } },
          { alive: { bootedAt: at(20), at: at(30) } },
        );
        expect(await sweepAlive(store, term, at(25))).toBe(1);
        expect(await store.aliveSpans(null, at(0), at(99))).toEqual([{ bootedAt: at(20), at: at(30) }]);
      });
    });

    test("of an endpoint that was taken out nothing is left when its time is over; what runs of one is waited for", async () => {
      const place = newPlace();
      const { store, term } = await start(place);
      const named = (letter: string) => ({
        tenant: "acme",
        jobId: `job_${letter.repeat(16)}`,
        endpointId: `ep_${letter.repeat(16)}`,
      });
      const running = {
        PeriodID: "2026-03-01T00:00:00Z",
        PID: 7,
        StartedAt: "2026-03-01T00:00:00Z",
        ChosenTime: "2026-03-01T00:00:00Z",
      };
      for (const [letter, goneAt, active] of [
        ["a", at(1), null],
        ["b", at(1), running],
        ["c", at(9), null],
      ] as const) {
        const identity = endpointIdentity(named(letter));
        const text = serialiseDocument({ ...newDocument(identity), ActiveExecution: active });
        await store.commit(term, {
          documents: [document(identity, text)],
          definitions: [
            { identity, definedAt: at(0), text: "{}" },
            { identity, definedAt: goneAt, text: null },
          ],
          objects: [{ key: goneKey(named(letter), goneAt), text: "" }],
        });
      }
      expect(await sweepGone(store, term, at(5))).toBe(null);
      const left = async (letter: string) => {
        const identity = endpointIdentity(named(letter));
        return [(await store.get(identity)) !== undefined, (await store.definitionVersions(identity)).length];
      };
      expect([await left("a"), await left("b"), await left("c")]).toEqual([
        [false, 0],
        [true, 2],
        [true, 2],
      ]);
      expect((await store.objects({ prefix: "gone/", limit: 9 })).length).toBe(2);
    });

    test("a store that is being filled from elsewhere is not opened until that is done", async () => {
      const place = newPlace();
      const first = await start(place);
      await first.store.markLoading(first.term, true);
      await stop(first);
      const term = must(await place.acquire());
      const refused = await place.open(term);
      await term.release();
      expect(refused.ok ? "opened" : refused.error.code).toBe("state-incompatible");
    });

    test("a load that was finished leaves nothing behind", async () => {
      const place = newPlace();
      const first = await start(place);
      await first.store.markLoading(first.term, true);
      await first.store.commit(first.term, { documents: [document(JOB, "1")] });
      await first.store.markLoading(first.term, false);
      await stop(first);
      const { store } = await start(place);
      expect([(await store.get(JOB))?.text, await store.notes()]).toEqual(["1", []]);
    });

    test("a store keeps its id over its life, and no two stores share one", async () => {
      const place = newPlace();
      const first = await start(place);
      const id = first.store.storeId;
      await stop(first);
      const again = await start(place);
      const stranger = await start(newPlace());
      expect([id, again.store.storeId === id, stranger.store.storeId === id]).toEqual([
        expect.stringMatching(/./),
        true,
        false,
      ]);
    });
  });
}
