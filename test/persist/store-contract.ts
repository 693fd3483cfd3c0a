/** What every store promises, whatever it is made of. A backend that passes may be exchanged for any other. */
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { KronError } from "../../src/core/base/errors/kron-error.js";
import type { Result } from "../../src/core/base/result.js";
import type { StoredJob } from "../../src/core/restart/resting.js";
import { ALL_KEYS, keyRanges } from "../../src/persist/key-range.js";
import { documentKey } from "../../src/persist/keys.js";
import type { LockTerm } from "../../src/persist/lock.js";
import { sweepAlive, sweepLedger } from "../../src/persist/retention.js";
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

/** `bulk`: how many entries are a large batch for this backend. */
export function describeStoreContract(name: string, bulk: number, newPlace: () => ContractPlace): void {
  const open: { store: StateStore; term: LockTerm }[] = [];
  afterEach(async () => {
    for (const { store, term } of open.splice(0)) {
      await store.close();
      term.release();
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
    it.term.release();
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

  describe(`store contract: ${name}`, () => {
    describe("documents (S30)", () => {
      it("a text comes back as it was written, byte for byte, also after the store was opened again", async () => {
        const texts = ['{"a":1}', "", "äöü € 𝄞 \u0001 \u2028", "x".repeat(100_000)];
        const documents = texts.map((text, index) => document(`job/${index}`, text));
        const { store } = await reopenedWith({ documents });
        const found = await Promise.all(texts.map((_, index) => store.get(`job/${index}`)));
        expect(found).toEqual(documents.map((it) => ({ ...it, isIntact: true })));
      });

      it("a document as bytes", async () => {
        const { store } = await reopenedWith({ documents: [document(JOB, "ä")] });
        const bytes = [await store.bytes(documentKey(JOB)), await store.bytes(documentKey(OTHER))];
        expect(bytes).toEqual([Buffer.from("ä"), undefined]);
      });

      it("an unknown identity has no document", async () => {
        const { store } = await reopenedWith({});
        expect([await store.get(JOB), await documentsOf(store)]).toEqual([undefined, {}]);
      });

      it("documents of different identities do not touch each other", async () => {
        const { store } = await reopenedWith(
          { documents: [document(JOB, "1"), document(OTHER, "1")] },
          { documents: [document(JOB, "2")] },
          { documents: [document("gone", "1")] },
          { documents: [{ key: documentKey("gone"), text: null }] },
        );
        expect(await documentsOf(store)).toEqual({ [documentKey(JOB)]: "2", [documentKey(OTHER)]: "1" });
      });

      it("identities that are neighbours in every respect stay apart", async () => {
        const identities = ["a", "A", "a ", " a", "ä", "a/b", "a\u0301", "á", "a".repeat(512)];
        const { store } = await reopenedWith({ documents: identities.map((it) => document(it, it)) });
        const texts = await Promise.all(identities.map(async (it) => (await store.get(it))?.text));
        expect(texts).toEqual(identities);
      });

      it("a large batch of documents comes back in key order and in pages", async () => {
        const documents = Array.from({ length: bulk }, (_, index) => document(`job/${index}`, `{"n":${index}}`));
        const { store, term } = await start(newPlace());
        await store.commit(term, { documents });
        const pages: string[][] = [];
        for await (const page of store.documents()) pages.push(page.map((entry) => entry.key));
        expect(pages.flat()).toEqual(documents.map((it) => it.key).sort());
        expect(pages.length).toBeGreaterThan(1);
      });
    });

    describe("commits", () => {
      it("all of a batch is visible once its promise has resolved, and never a part of it", async () => {
        const { store, term } = await start(newPlace());
        const commit = store.commit(term, { documents: [document(JOB, "1")], ledger: [record(JOB, 1, "run")] });
        const early = [(await store.get(JOB)) === undefined, (await store.ledgerLatest(JOB, 1)).length === 0];
        await commit;
        const late = [(await store.get(JOB))?.text, (await store.ledgerLatest(JOB, 1)).length];
        // Reading the document first: seeing it means that the ledger, read later, has its record.
        expect([early, late]).not.toEqual([[false, true], expect.anything()]);
        expect(late).toEqual(["1", 1]);
      });

      it("commits of one turn and overlapping commits are applied in the order of the calls", async () => {
        const { store, term } = await start(newPlace());
        const commits = Array.from({ length: 50 }, (_, n) =>
          store.commit(term, { documents: [document(JOB, `${n}`)] }),
        );
        await commits[0];
        commits.push(store.commit(term, { documents: [document(JOB, "last")] }));
        await Promise.all(commits);
        expect((await store.get(JOB))?.text).toBe("last");
      });

      it("within one batch the later write of a document wins, and removals come first", async () => {
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

      it("an empty batch is all right", async () => {
        const { store, term } = await start(newPlace());
        await store.commit(term, {});
        expect(await store.counts()).toEqual({ documents: 0, ledger: 0, definitions: 0 });
      });

      it("closing waits for commits under way", async () => {
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
        it(`a batch that breaks the rules throws before anything is written: ${row.name}`, async () => {
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

      it("what nobody has is had by whoever asks first, for all time", async () => {
        const { store, term, place } = await reopenedWith({});
        const first = await store.commit(term, claiming(JOB, 1, "mine"));
        const second = await store.commit(term, claiming(JOB, 1, "other"));
        await store.close();
        term.release();
        const again = await start(place);
        const third = await again.store.commit(again.term, claiming(JOB, 1, "third"));
        expect([first, second, third]).toEqual([[], [claim(JOB, 1, "other")], [claim(JOB, 1, "third")]]);
        expect(await told(again.store, JOB)).toEqual(["mine", "mine"]);
      });

      it("a record that was put there before refuses it, whatever it says; one of another name does not", async () => {
        const { store, term } = await reopenedWith({ ledger: [run(JOB, 1, ""), record(JOB, 2, "other kind")] });
        const refused = await store.commit(term, claiming(JOB, 1, "mine"));
        const granted = [
          await store.commit(term, claiming(JOB, 2, "mine")),
          await store.commit(term, claiming(OTHER, 1, "mine")),
        ];
        expect([refused, granted]).toEqual([[claim(JOB, 1)], [[], []]]);
      });

      it("of a batch with a refused claim nothing is written, and all that were refused are named", async () => {
        const { store, term } = await reopenedWith({ ledger: [run(JOB, 1, "there"), run(OTHER, 1, "there")] });
        const identities = [JOB, "free", OTHER];
        const batch: Batch = {
          documents: identities.map((it) => document(it, "new")),
          ledger: identities.map((it) => run(it, 1, "new")),
          claims: identities.map((it) => claim(it, 1)),
          definitions: [{ identity: "free", definedAt: at(1), text: "new" }],
          meta: [{ key: "note", text: "new" }],
          alive: { bootedAt: at(0), at: at(1) },
        };
        const refused = await store.commit(term, batch);
        const found = await Promise.all(identities.map((it) => told(store, it)));
        expect([refused, found]).toEqual([
          [claim(JOB, 1), claim(OTHER, 1)],
          [[undefined, "there"], [undefined], [undefined, "there"]],
        ]);
        expect([await store.newestVersion("free"), await store.notes()]).toEqual([undefined, []]);
      });

      it("a refusal is no failure: what goes along with it and what comes after it is written", async () => {
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

      it("of batches that become durable together the earlier one has what both claim", async () => {
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

      it("the end of a run replaces the record of its claim, and is none itself", async () => {
        const { store, term } = await start(newPlace());
        await store.commit(term, claiming(JOB, 1, "begun"));
        const ended = await store.commit(term, { ledger: [run(JOB, 1, "ended")] });
        expect([ended, await told(store, JOB)]).toEqual([[], ["begun", "ended"]]);
      });

      it("a claim without its record, or made twice, is a broken invariant", async () => {
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

      it("every job that has a document or a definition, in the order of the keys, in slices", async () => {
        const { store } = await reopenedWith(filled);
        expect(await jobsOf(store)).toEqual(expected);
        const sizes: number[] = [];
        for await (const slice of store.jobs()) sizes.push(slice.length);
        expect(Math.max(...sizes)).toBeLessThan(identities.length);
      });

      it("a job that was removed has no definition and is still known", async () => {
        const { store } = await reopenedWith({ definitions: [{ identity: JOB, definedAt: at(1), text: null }] });
        expect(await jobsOf(store)).toMatchObject([{ identity: JOB, definitionText: null, documentText: null }]);
      });

      it("stretches hold every job once, whatever they are made of", async () => {
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

      it("a stretch of a stretch is its part of it", async () => {
        const { store } = await reopenedWith(filled);
        const [, second] = keyRanges(2);
        if (second === undefined) throw new Error("no second half");
        const parts = keyRanges(3, second).map((range) => store.inRange(range));
        const found = (await Promise.all(parts.map(jobsOf))).flat();
        expect(found).toEqual(await jobsOf(store.inRange(second)));
        expect(found.length).toBeGreaterThan(identities.length / 4);
      });

      it("what is written through a stretch is written to the store, and closing one closes it", async () => {
        const { store, term } = await start(newPlace());
        const view = store.inRange(ALL_KEYS);
        await view.commit(term, { documents: [document(JOB, "1")] });
        expect((await store.get(JOB))?.text).toBe("1");
        await view.close();
        await expect(store.get(JOB)).rejects.toThrow(/closed store/);
      });
    });

    describe("the lock (S33)", () => {
      it("a term that nobody takes away is not lost", async () => {
        const { term } = await start(newPlace());
        expect(await Promise.race([term.lost, Promise.resolve("held")])).toBe("held");
      });

      it("a write with a released term is a broken invariant", async () => {
        const { store, term } = await start(newPlace());
        term.release();
        expect(() => store.commit(term, { documents: [document(JOB, "1")] })).toThrow(/released lock term/);
      });

      it("a write with the term of another place is a broken invariant", async () => {
        const { store } = await start(newPlace());
        const elsewhere = must(await newPlace().acquire());
        expect(() => store.commit(elsewhere, {})).toThrow(/with the lock term of/);
        elsewhere.release();
      });

      it("opening with a released term is a broken invariant", async () => {
        const place = newPlace();
        const term = must(await place.acquire());
        term.release();
        await expect(place.open(term)).rejects.toThrow(/released lock term/);
      });

      it("a second holder is refused until the first released its term", async () => {
        const place = newPlace();
        const first = await start(place);
        const second = await place.acquire();
        await stop(first);
        const third = await place.acquire();
        expect([second.ok ? "" : second.error.code, third.ok]).toEqual(["lock-held", true]);
        must(third).release();
      });

      it("a closed store is not used any more", async () => {
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
        it(`latest: ${row.name}`, async () => {
          const { store } = await reopenedWith(filled);
          expect(texts(await store.ledgerLatest(JOB, row.limit, row.before))).toEqual(row.expected);
        });
      }

      it("a completion replaces the record of its start", async () => {
        const { store } = await reopenedWith(
          { ledger: [record(JOB, 1, "start")] },
          { ledger: [record(JOB, 1, "end")] },
        );
        expect([texts(await store.ledgerLatest(JOB, 9)), (await store.counts()).ledger]).toEqual([["end"], 1]);
      });

      it("instants sort as numbers do, before 1970 too", async () => {
        const instants = [-62_167_219_200_000, -1, 0, 1, 999, 1000, 253_402_300_799_999];
        const ledger = instants.map((it) => ({ identity: JOB, at: it, kind: "period", text: "" })).reverse();
        const { store } = await reopenedWith({ ledger });
        const found = await store.ledgerLatest(JOB, 99);
        expect(found.map((it) => it.at).reverse()).toEqual(instants);
      });

      it("a scan sees every record once, each identity newest first, whatever the page size", async () => {
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

      it("property: the latest agree with sorting a list", async () => {
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
        it(`the version in force: ${row.name}`, async () => {
          const { store } = await reopenedWith(filled);
          expect((await store.newestVersion(row.identity))?.text).toBe(row.expected);
        });
      }

      it("the version in force is the newest, whatever the clock says, and complete", async () => {
        const future = version(JOB, 50_000_000, "to come");
        const { store } = await reopenedWith(filled, { definitions: [future] });
        expect(await store.newestVersion(JOB)).toEqual({ ...future, isIntact: true });
      });

      it("all versions of a job, oldest first", async () => {
        const { store } = await reopenedWith(filled);
        expect(await store.definitionVersions(OTHER)).toEqual([
          { ...version(OTHER, 1, "kept"), isIntact: true },
          { ...version(OTHER, 3, null), isIntact: true },
        ]);
      });

      it("all versions of all jobs, each job newest first", async () => {
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

      it("S16: a removed job is no longer listed, but keeps its document and its ledger", async () => {
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

      it("many jobs with two versions each are listed once, with the newer one", async () => {
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
      it("notes are kept, replaced and removed", async () => {
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

      it("each daemon's span grows with its marks; spans that touch a range are found", async () => {
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

    describe("retention", () => {
      it("drops by age and by count in bounded steps, and never the newest definition", async () => {
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

      it("drops spans of daemons that ended long ago", async () => {
        const { store, term } = await reopenedWith(
          { alive: { bootedAt: at(0), at: at(10) } },
          { alive: { bootedAt: at(20), at: at(30) } },
        );
        expect(await sweepAlive(store, term, at(25))).toBe(1);
        expect(await store.aliveSpans(null, at(0), at(99))).toEqual([{ bootedAt: at(20), at: at(30) }]);
      });
    });

    it("a store that is being filled from elsewhere is not opened until that is done", async () => {
      const place = newPlace();
      const first = await start(place);
      await first.store.markLoading(first.term, true);
      await stop(first);
      const term = must(await place.acquire());
      const refused = await place.open(term);
      term.release();
      expect(refused.ok ? "opened" : refused.error.code).toBe("state-incompatible");
    });

    it("a load that was finished leaves nothing behind", async () => {
      const place = newPlace();
      const first = await start(place);
      await first.store.markLoading(first.term, true);
      await first.store.commit(first.term, { documents: [document(JOB, "1")] });
      await first.store.markLoading(first.term, false);
      await stop(first);
      const { store } = await start(place);
      expect([(await store.get(JOB))?.text, await store.notes()]).toEqual(["1", []]);
    });

    it("a store keeps its id over its life, and no two stores share one", async () => {
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
