import { computed, signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { useChanges } from "../asked.js";
import { get, send } from "../data.js";
import { isOverdue, outcomeOfJob, outcomeText, overdueText } from "../outcome.js";
import { type Column, Grid } from "../parts/grid.js";
import { JobName, nameOf } from "../parts/job-name.js";
import { Mark } from "../parts/mark.js";
import { countText, Refused } from "../parts/panel.js";
import { useShortcuts } from "../parts/shortcuts.js";
import { go, jobAddress, query } from "../router.js";
import { scheduleText } from "../schedule-text.js";
import { readSearch, toggled } from "../search.js";
import { mayOperate } from "../session.js";
import type { JobRow, Page } from "../shapes.js";
import { distanceText, lengthText, momentText, nowMs, spanText, wireText } from "../time.js";
import { nextOf } from "../usual.js";

const PAGE = 100;
/** Pages that are kept: whoever scrolls far leaves the first behind. */
const KEPT_PAGES = 50;
const TYPING_MS = 200;
const SURE_MS = 4_000;
const HOUR_MS = 3_600_000;

const COLUMNS = [
  { key: "mark", name: "Last" },
  { key: "name", name: "Job", sort: "name" },
  { key: "next", name: "Next start", sort: "next" },
  { key: "schedule", name: "Schedule" },
  { key: "failures", name: "Outcome", sort: "failures", isMostFirst: true },
  { key: "duration", name: "Took", sort: "duration", isMostFirst: true },
  { key: "lateness", name: "Late by", sort: "lateness", isMostFirst: true },
  { key: "standing", name: "Standing" },
] as const satisfies readonly Column[];

/** Where there is no room for every column there is one of these, and the one that it says is shown. */
const SORTS = [
  ["name", "name"],
  ["next", "next start"],
  ["failures", "failures"],
  ["duration", "how long it took"],
  ["lateness", "how late it began"],
] as const;

const CHIPS = [
  ["problems", "is:failing"],
  ["running", "is:running"],
  ["held", "is:held"],
  ["missed", "outcome:missed"],
] as const;

/** What a key does to the job under the cursor, when it is pressed twice. */
interface Deed {
  readonly ask: string;
  readonly path: string;
  readonly told: string;
  body(): object;
}

const DEEDS: Readonly<Record<string, Deed>> = {
  r: { ask: "Run", path: "run", told: "runs.", body: () => ({}) },
  p: { ask: "Pause for an hour", path: "pause", told: "is paused for an hour.", body: () => pauseFor(HOUR_MS) },
  u: { ask: "Resume", path: "resume", told: "goes on.", body: () => ({}) },
  c: { ask: "End what runs of it", path: "cancel", told: "was asked to end.", body: () => ({}) },
};

function pauseFor(ms: number): object {
  return { untilAt: wireText(nowMs.value + ms), reason: "paused on the page" };
}

const text = computed(() => query.value.get("q") ?? "");
const sort = computed(() => query.value.get("sort") ?? "name");
const isReversed = computed(() => query.value.get("order") === "down");

/** What is known of the rows, by pages; another question begins anew. */
const pages = signal<ReadonlyMap<number, readonly JobRow[]>>(new Map());
const total = signal(0);

function address(changes: Readonly<Record<string, string>>): string {
  const now = { q: text.value, sort: sort.value, order: isReversed.value ? "down" : "", ...changes };
  const usual: Readonly<Record<string, string>> = { q: "", sort: "name", order: "" };
  const pairs = Object.entries(now).filter(([name, value]) => value !== usual[name]);
  return pairs.length === 0 ? "/jobs" : `/jobs?${new URLSearchParams(pairs).toString()}`;
}

function questionOf(page: number): string {
  const { parameters } = readSearch(text.value, nowMs.peek());
  const asked = new URLSearchParams([
    ...parameters.map(([name, value]) => [name, value]),
    ["sort", sort.value],
    ["reverse", String(isReversed.value)],
    ["limit", String(PAGE)],
    ["offset", String(page * PAGE)],
  ]);
  return `/schedules?${asked.toString()}`;
}

/** Asks for what is in view, and leaves what it knew in place until the answer is there. */
class Rows {
  readonly refusal = signal<string | null>(null);
  #question = 0;
  #view = { first: 0, end: 1 };
  readonly #underWay = new Set<number>();

  anew(): void {
    this.#question += 1;
    this.#underWay.clear();
    this.#ask(0, true);
  }

  see(first: number, end: number): void {
    this.#view = { first, end };
    for (const page of this.#inView()) if (!pages.peek().has(page)) this.#ask(page);
  }

  refresh(): void {
    for (const page of this.#inView()) this.#ask(page);
  }

  isShown(identities: readonly string[]): boolean {
    const shown = new Set(this.#inView().flatMap((page) => (pages.peek().get(page) ?? []).map((row) => row.identity)));
    return identities.some((identity) => shown.has(identity));
  }

  #inView(): readonly number[] {
    const [from, to] = [Math.floor(this.#view.first / PAGE), Math.floor(Math.max(0, this.#view.end - 1) / PAGE)];
    return Array.from({ length: to - from + 1 }, (_, step) => from + step);
  }

  #ask(page: number, isNew = false): void {
    if (this.#underWay.has(page)) return;
    this.#underWay.add(page);
    const question = this.#question;
    get<Page<JobRow>>(questionOf(page))
      .then((answer) => {
        if (question !== this.#question) return;
        const kept = isNew ? [] : [...pages.peek()].filter(([known]) => known !== page).slice(-KEPT_PAGES);
        pages.value = new Map([...kept, [page, answer.rows]]);
        total.value = answer.total ?? answer.rows.length;
        this.refusal.value = null;
      })
      .catch((error: unknown) => {
        if (question === this.#question) this.refusal.value = (error as Error).message;
      })
      .finally(() => {
        if (question === this.#question) this.#underWay.delete(page);
      });
  }
}

function rowAt(index: number): JobRow | undefined {
  return pages.value.get(Math.floor(index / PAGE))?.[index % PAGE];
}

export function Jobs() {
  const rows = useRef<Rows | null>(null);
  rows.current ??= new Rows();
  const known = rows.current;
  const said = useSignal("");
  const sure = useRef<{ readonly what: string; readonly untilMs: number } | null>(null);
  const question = `${text.value} ${sort.value} ${isReversed.value}`;
  useEffect(() => known.anew(), [question, known]);
  useChanges(
    (identities) => identities === null || known.isShown(identities),
    () => known.refresh(),
  );
  const onView = useCallback((first: number, end: number) => known.see(first, end), [known]);

  /** A key is pressed twice for what cannot be taken back. */
  function onKey(key: string, index: number): boolean {
    const row = rowAt(index);
    if (row === undefined || !mayOperate()) return false;
    if (key === "h") {
      go(`${jobAddress(row.identity)}#hint`);
      return true;
    }
    const deed = DEEDS[key];
    if (deed === undefined) return false;
    const [name, what] = [nameOf(row), `${key} ${row.identity}`];
    if (sure.current?.what !== what || sure.current.untilMs < performance.now()) {
      sure.current = { what, untilMs: performance.now() + SURE_MS };
      said.value = `${deed.ask}: ${name}? Press ${key} again.`;
      return true;
    }
    sure.current = null;
    void done(deed, row.identity).then((it) => {
      said.value = `${name}${it}`;
    });
    return true;
  }
  return (
    <>
      <h1 tabIndex={-1}>Jobs</h1>
      <SearchBar />
      <Refused text={known.refusal.value} />
      <Grid
        label="Jobs"
        total={total.value}
        columns={COLUMNS}
        sort={sort.value}
        isReversed={isReversed.value}
        onSort={(wanted) => {
          const order = wanted === sort.value && !isReversed.value ? "down" : "";
          go(address({ sort: wanted, order }), true);
        }}
        row={(index) => cellsOf(rowAt(index))}
        onKey={onKey}
        onOpen={(index) => {
          const identity = rowAt(index)?.identity;
          if (identity !== undefined) go(jobAddress(identity));
        }}
        onView={onView}
      />
      <p class="soft small keys">
        <kbd>↑</kbd> <kbd>↓</kbd> <kbd>PgUp</kbd> <kbd>PgDn</kbd> <kbd>Home</kbd> <kbd>End</kbd> move · <kbd>Enter</kbd>{" "}
        opens · <kbd>/</kbd> searches · <kbd>r</kbd> runs · <kbd>p</kbd> pauses · <kbd>u</kbd> resumes · <kbd>c</kbd>{" "}
        cancels · <kbd>h</kbd> hints
      </p>
      <p role="status" class="said">
        {said}
      </p>
    </>
  );
}

async function done({ path, body, told }: Deed, identity: string): Promise<string> {
  try {
    await send("POST", `/schedules/${encodeURIComponent(identity)}/${path}`, body());
    return ` ${told}`;
  } catch (error) {
    return `: ${(error as Error).message}`;
  }
}

function SearchBar() {
  const field = useRef<HTMLInputElement>(null);
  const typing = useRef<ReturnType<typeof setTimeout> | null>(null);
  useShortcuts((key) => {
    if (key === "/") field.current?.focus();
    return key === "/";
  });
  const { unknown } = readSearch(text.value, nowMs.peek());
  function search(wanted: string): void {
    if (typing.current !== null) clearTimeout(typing.current);
    typing.current = setTimeout(() => go(address({ q: wanted }), true), TYPING_MS);
  }
  return (
    <search class="bar">
      <input
        ref={field}
        type="search"
        aria-label="Search jobs"
        placeholder="name, prod/*, tag:backup, outcome:missed, next<1h"
        defaultValue={text.value}
        key={CHIPS.map(([, word]) => text.value.includes(word)).join()}
        onInput={(event) => search(event.currentTarget.value)}
      />
      {CHIPS.map(([name, word]) => (
        <button
          key={word}
          type="button"
          class="chip"
          aria-pressed={text.value.split(/\s+/).includes(word)}
          onClick={() => go(address({ q: toggled(text.value, word) }), true)}
        >
          {name}
        </button>
      ))}
      <label class="narrow">
        by{" "}
        <select value={sort.value} onChange={({ currentTarget }) => go(address({ sort: currentTarget.value }), true)}>
          {SORTS.map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <span class="soft" role="status">
        {countText(total.value)} {total.value === 1 ? "job" : "jobs"}
        {unknown.length > 0 && `; not understood: ${unknown.join(" ")}`}
      </span>
    </search>
  );
}

const NAME_CHARS = 64;

function cellsOf(row: JobRow | undefined): readonly (JSX.Element | string)[] {
  if (row === undefined) return ["", "…"];
  const outcome = outcomeOfJob(row);
  return [
    outcome === null ? "" : <Mark outcome={outcome} />,
    <JobName key="name" row={row} mostChars={NAME_CHARS} tabIndex={-1} />,
    <NextStart key="next" row={row} />,
    <Schedule key="schedule" row={row} />,
    <span key="outcome" class="soft">
      {outcome === null ? "not yet" : outcomeText(outcome)}
      {row.failures > 1 && ` (${row.failures})`}
    </span>,
    lengthCell("duration", row.lastRun?.durationMs, lengthText),
    lengthCell("lateness", row.lastRun?.lateMs, (ms) => (ms < 1 ? "on time" : spanText(ms))),
    <span key="standing" class="soft">
      {row.unserved === undefined ? row.standing : `unserved (${row.unserved})`}
    </span>,
  ];
}

/** Of the newest run. */
function lengthCell(key: string, ms: number | null | undefined, textOf: (ms: number) => string): JSX.Element {
  return (
    <span key={key} class="soft">
      {ms == null ? "–" : textOf(ms)}
    </span>
  );
}

function NextStart({ row }: { readonly row: JobRow }) {
  const next = nextOf(row);
  if (next === null) return <span class="soft">{row.standing === "suspended" ? "suspended" : "–"}</span>;
  if (isOverdue(row)) return <span class={row.startFailure === null ? "" : "refusal"}>{overdueText(row)}</span>;
  return (
    <>
      {momentText(next)} <small>{distanceText(next)}</small>
    </>
  );
}

/** In words, and as it is written. */
function Schedule({ row: { schedule, timezone } }: { readonly row: JobRow }) {
  const words = scheduleText(schedule);
  const written = `${schedule} ${timezone}`;
  return (
    <span title={written}>
      {words ?? schedule} <small>{words === null ? timezone : written}</small>
    </span>
  );
}
