/**
 * Counters, gauges, histograms and summaries, and their text for Prometheus. Written here rather than taken from a library: it is a
 * page of code with a stable format, it holds no global state, and it bounds how many series a metric can have, which the
 * usual library does not; its two dependencies would have come along.
 */
export const METRIC_LIMITS = {
  /** Series of one metric, unless it says otherwise; beyond, new ones are dropped and counted. */
  series: 1000,
  labelValueChars: 1024,
} as const;

type Labels = Readonly<Record<string, string>>;

interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly maxSeries?: number;
}

interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending; +Inf goes without saying. */
  readonly buckets: readonly number[];
}

type MetricType = "counter" | "gauge" | "histogram" | "summary";

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
const DROPPED = "kron_metric_series_dropped_total";
/** Those that the exposition itself adds. */
const RESERVED: ReadonlySet<string> = new Set(["le", "quantile"]);
const NO_LABELS: Labels = Object.freeze({});

export class MetricRegistry {
  readonly #metrics = new Map<string, Metric<unknown>>();
  readonly #collectors: (() => void)[] = [];
  readonly #dropped: Counter;

  constructor() {
    const help = "Series that were not kept because their metric has too many.";
    this.#dropped = this.counter({ name: DROPPED, help, labels: ["metric"] });
  }

  counter(options: MetricOptions): Counter {
    return this.#add(new Counter(options, this.#onDropped));
  }

  gauge(options: MetricOptions): Gauge {
    return this.#add(new Gauge(options, this.#onDropped));
  }

  histogram(options: HistogramOptions): Histogram {
    return this.#add(new Histogram(options, this.#onDropped));
  }

  summary(options: MetricOptions): Summary {
    return this.#add(new Summary(options, this.#onDropped));
  }

  /** Called before each exposition: for values that are read rather than counted. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  /** The text format, version 0.0.4. */
  exposition(): string {
    for (const collect of this.#collectors) collect();
    return [...this.#metrics.values()].map((metric) => metric.exposition()).join("");
  }

  #add<M extends Metric<unknown>>(metric: M): M {
    if (this.#metrics.has(metric.name)) throw new Error(`invariant broken: two metrics named ${metric.name}`);
    this.#metrics.set(metric.name, metric);
    return metric;
  }

  readonly #onDropped = (name: string): void => this.#dropped.inc({ metric: name });
}

interface Series<V> {
  readonly labels: string;
  value: V;
}

/** One metric and its series, each under the text of its labels. */
abstract class Metric<V> {
  readonly name: string;
  readonly #head: string;
  readonly #labelNames: readonly string[];
  readonly #maxSeries: number;
  readonly #series = new Map<string, Series<V>>();
  readonly #onDropped: (name: string) => void;

  constructor(type: MetricType, options: MetricOptions, onDropped: (name: string) => void) {
    const { name, help, labels = [], maxSeries = METRIC_LIMITS.series } = options;
    if (!METRIC_NAME.test(name)) throw new Error(`invariant broken: ${name} is no name for a metric`);
    const wrong = labels.find((label) => !LABEL_NAME.test(label) || RESERVED.has(label));
    if (wrong !== undefined) throw new Error(`invariant broken: ${wrong} is no name for a label of ${name}`);
    this.name = name;
    this.#labelNames = labels;
    this.#maxSeries = maxSeries;
    this.#onDropped = onDropped;
    this.#head = `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`;
    // A metric without labels is there from the start: a rate needs its zero.
    if (labels.length === 0) this.at(NO_LABELS);
  }

  /** Null when there are too many already. */
  protected at(labels: Labels): Series<V> | null {
    const key = this.#keyOf(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= this.#maxSeries) {
      this.#onDropped(this.name);
      return null;
    }
    const series = { labels: key, value: this.zero() };
    this.#series.set(key, series);
    return series;
  }

  remove(labels: Labels): void {
    this.#series.delete(this.#keyOf(labels));
  }

  exposition(): string {
    const lines = [...this.#series.values()].map(({ labels, value }) => this.lines(labels, value));
    return lines.length === 0 ? "" : this.#head + lines.join("");
  }

  protected abstract zero(): V;
  protected abstract lines(labels: string, value: V): string;

  #keyOf(labels: Labels): string {
    const names = Object.keys(labels);
    if (names.length !== this.#labelNames.length) throw new Error(`invariant broken: wrong labels for ${this.name}`);
    return this.#labelNames.map((name) => `${name}="${escapedValue(labels[name], this.name)}"`).join(",");
  }
}

class Counter extends Metric<number> {
  constructor(options: MetricOptions, onDropped: (name: string) => void) {
    super("counter", options, onDropped);
  }

  inc(labels: Labels = NO_LABELS, by = 1): void {
    if (!(by >= 0)) throw new Error(`invariant broken: ${this.name} was to be counted by ${by}`);
    const series = this.at(labels);
    if (series !== null) series.value += by;
  }

  protected override zero(): number {
    return 0;
  }

  protected override lines(labels: string, value: number): string {
    return sample(this.name, labels, value);
  }
}

export class Gauge extends Metric<number> {
  constructor(options: MetricOptions, onDropped: (name: string) => void) {
    super("gauge", options, onDropped);
  }

  set(value: number, labels: Labels = NO_LABELS): void {
    const series = this.at(labels);
    if (series !== null) series.value = value;
  }

  protected override zero(): number {
    return 0;
  }

  protected override lines(labels: string, value: number): string {
    return sample(this.name, labels, value);
  }
}

interface Distribution {
  /** Per bucket, not cumulated; the last one is +Inf. */
  readonly counts: number[];
  sum: number;
}

class Histogram extends Metric<Distribution> {
  readonly #buckets: readonly number[];

  constructor(options: HistogramOptions, onDropped: (name: string) => void) {
    // Subclass fields are not there yet while the base class makes the first series: `zero` looks at the count only.
    super("histogram", options, onDropped);
    this.#buckets = options.buckets;
    const isAscending = this.#buckets.every((bound, index) => bound > (this.#buckets[index - 1] ?? -Infinity));
    if (!isAscending) throw new Error(`invariant broken: the buckets of ${this.name} do not ascend`);
  }

  observe(value: number, labels: Labels = NO_LABELS): void {
    const series = this.at(labels);
    if (series === null || Number.isNaN(value)) return;
    const found = this.#buckets.findIndex((bound) => value <= bound);
    const index = found < 0 ? this.#buckets.length : found;
    series.value.counts[index] = (series.value.counts[index] ?? 0) + 1;
    series.value.sum += value;
  }

  protected override zero(): Distribution {
    return { counts: [], sum: 0 };
  }

  protected override lines(labels: string, { counts, sum }: Distribution): string {
    const before = labels === "" ? "" : `${labels},`;
    let count = 0;
    let text = "";
    for (const [index, bound] of [...this.#buckets, Number.POSITIVE_INFINITY].entries()) {
      count += counts[index] ?? 0;
      text += sample(`${this.name}_bucket`, `${before}le="${numberText(bound)}"`, count);
    }
    return `${text}${sample(`${this.name}_sum`, labels, sum)}${sample(`${this.name}_count`, labels, count)}`;
  }
}

/** What was observed since the last time. */
export interface Observed {
  readonly quantiles: readonly { readonly quantile: string; readonly value: number }[];
  readonly count: number;
  readonly sum: number;
}

/** Quantiles that somebody else works out, of what is new; count and sum are of all there ever was. */
class Summary extends Metric<Observed> {
  constructor(options: MetricOptions, onDropped: (name: string) => void) {
    super("summary", options, onDropped);
  }

  observe({ quantiles, count, sum }: Observed, labels: Labels = NO_LABELS): void {
    const series = this.at(labels);
    if (series === null) return;
    const { value } = series;
    series.value = { quantiles, count: value.count + count, sum: value.sum + sum };
  }

  protected override zero(): Observed {
    return { quantiles: [], count: 0, sum: 0 };
  }

  protected override lines(labels: string, { quantiles, count, sum }: Observed): string {
    const before = labels === "" ? "" : `${labels},`;
    const text = quantiles.map(({ quantile, value }) => sample(this.name, `${before}quantile="${quantile}"`, value));
    return `${text.join("")}${sample(`${this.name}_sum`, labels, sum)}${sample(`${this.name}_count`, labels, count)}`;
  }
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${numberText(value)}\n`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function escapedHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

/** Line breaks, quotes and backslashes; and nothing that UTF-8 cannot express. */
function escapedValue(value: string | undefined, metric: string): string {
  if (value === undefined) throw new Error(`invariant broken: a label of ${metric} has no value`);
  const bounded = value.slice(0, METRIC_LIMITS.labelValueChars).replace(/\p{Cs}/gu, "\ufffd");
  return escapedHelp(bounded).replaceAll('"', '\\"');
}
