import { useSignal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import { useAsked } from "../asked.js";
import { Heat } from "../parts/heat.js";
import { nameOf } from "../parts/job-name.js";
import { countText, Figures, Panel, Refused } from "../parts/panel.js";
import { type Column, Line, Table } from "../parts/table.js";
import { jobAddress } from "../router.js";
import type { ForecastAnswer, ForecastWhoAnswer } from "../shapes.js";
import { dateText, instantOf, midnightOf, minuteText, nowMs, zone } from "../time.js";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DAYS = 7;

type Who = ForecastWhoAnswer["chosen"];

export function Forecast() {
  const day = useSignal(0);
  const isCron = useSignal(false);
  const fromMs = midnightOf(midnightOf(nowMs.peek()) + day.value * DAY_MS + DAY_MS / 2);
  const from = new Date(fromMs).toISOString().replace(".000Z", "Z");
  const stretch = `fromAt=${encodeURIComponent(from)}&hours=24`;
  const asked = useAsked<ForecastAnswer>(`/system/forecast?${stretch}`);
  const minute = useSignal<number | null>(null);
  const at = minute.value === null ? null : new Date(fromMs + minute.value * MINUTE_MS).toISOString();
  const who = useAsked<ForecastWhoAnswer>(
    at === null || asked.it === null
      ? null
      : `/system/forecast/who?${stretch}&at=${encodeURIComponent(at.replace(".000Z", "Z"))}`,
  );
  const onPlace = useCallback(
    (place: number) => {
      minute.value = place;
    },
    [minute],
  );
  const it = asked.it;
  return (
    <>
      <h1 tabIndex={-1}>Forecast</h1>
      <p class="soft">
        {dateText(fromMs)}, {zone.value}
        {it !== null && ` · ${countText(it.jobs)} jobs, ${countText(it.chosen.total)} starts, computed to the second`}
      </p>
      <Refused text={asked.refusal} />
      <div class="bar">
        <label>
          Day{" "}
          <select
            value={String(day)}
            onChange={(event) => {
              day.value = Number(event.currentTarget.value);
            }}
          >
            {Array.from({ length: DAYS }, (_, ahead) => (
              <option key={ahead} value={String(ahead)}>
                {ahead === 0 ? "today" : dateText(midnightOf(nowMs.peek()) + ahead * DAY_MS + DAY_MS / 2)}
              </option>
            ))}
          </select>
        </label>
        <Chip name="with windows" isOn={!isCron.value} onPick={() => (isCron.value = false)} />
        <Chip name="without" isOn={isCron.value} onPick={() => (isCron.value = true)} />
      </div>
      {it === null ? (
        <p class="soft" role="status">
          Counting…
        </p>
      ) : (
        <>
          <Figures figures={figuresOf(it)} />
          <Panel name="Heat map">
            <Heat
              label="Starts by hour and minute; arrow keys move"
              values={isCron.value ? it.nominal.counts : it.chosen.counts}
              fromMs={fromMs}
              // One scale for both: that windows flatten the day is the point.
              most={Math.max(1, ...it.nominal.counts, ...it.chosen.counts)}
              onPlace={onPlace}
            />
            <WhoStarts
              at={at}
              count={(isCron.value ? it.nominal : it.chosen).counts[minute.value ?? 0] ?? 0}
              who={who.it === null ? null : isCron.value ? who.it.nominal : who.it.chosen}
            />
          </Panel>
          <Peaks forecast={it} isCron={isCron.value} />
        </>
      )}
    </>
  );
}

function Chip({ name, isOn, onPick }: { readonly name: string; readonly isOn: boolean; onPick(): void }) {
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={onPick}>
      {name}
    </button>
  );
}

function figuresOf({ chosen, nominal, suspended, unschedulable }: ForecastAnswer) {
  const [fullest, fullestOfCron] = [chosen.peaks[0], nominal.peaks[0]];
  const peak = (it: typeof fullest) =>
    it === undefined ? { value: "0" } : { value: countText(it.starts), unit: `at ${minuteText(it.at)}` };
  return [
    { name: "Fullest minute", ...peak(fullest) },
    { name: "Without windows", ...peak(fullestOfCron) },
    ...(suspended === 0 ? [] : [{ name: "Suspended", value: countText(suspended), unit: "not counted" }]),
    ...(unschedulable === 0 ? [] : [{ name: "Find no second", value: countText(unschedulable) }]),
  ];
}

function WhoStarts({
  at,
  count,
  who,
}: {
  readonly at: string | null;
  readonly count: number;
  readonly who: Who | null;
}) {
  return (
    <p class="who-starts" aria-live="polite">
      <b>
        {at === null ? "" : minuteText(instantOf(at))} · {count === 1 ? "1 start" : `${countText(count)} starts`}
      </b>{" "}
      {who !== null && count > 0 && <Names who={who} />}
    </p>
  );
}

function Names({ who }: { readonly who: Who }) {
  return (
    <>
      {who.named.map(({ name, endpoint, starts }, index) => (
        <span key={name}>
          {index > 0 && ", "}
          <a href={jobAddress(name)}>{nameOf({ identity: name, endpoint })}</a>
          {starts > 1 && ` ×${starts}`}
        </span>
      ))}
      {who.others > 0 && ` and ${countText(who.others)} more`}
    </>
  );
}

const PEAKS: readonly Column[] = [
  ["Minute", "who tight"],
  ["Starts", "number"],
  ["Who", "why breaks"],
];

function Peaks({ forecast, isCron }: { readonly forecast: ForecastAnswer; readonly isCron: boolean }) {
  const { peaks } = isCron ? forecast.nominal : forecast.chosen;
  return (
    <section>
      <h2>Fullest minutes</h2>
      <Panel name="Fullest minutes">
        {peaks.length === 0 && <p class="soft">Nothing starts.</p>}
        <Table columns={PEAKS} isPlain>
          {peaks.map(({ at, starts, who }) => (
            <Line key={at} columns={PEAKS} cells={[minuteText(at), countText(starts), <Names key="who" who={who} />]} />
          ))}
        </Table>
        <p class="soft small">
          <code>kron tune</code> says which windows would flatten them.
        </p>
      </Panel>
    </section>
  );
}
