/**
 * The forecast as one page that needs nothing else: no request leaves it, and its policy allows only the one script and
 * the one style that are in it, by their hashes. Names are written by anybody, so they are data everywhere: escaped in the
 * markup, and in a data block that cannot be closed from within.
 */
import { createHash } from "node:crypto";
import type { Forecast } from "../../core/forecast/forecaster.js";
import { bucketOf } from "../../core/forecast/horizon.js";
import type { Series } from "../../core/forecast/series.js";
import { formatDuration } from "../../core/time/duration.js";
import { parseInstant, SECOND_MS } from "../../core/time/instant.js";
import { plural } from "../format.js";
import { PAGE_SCRIPT } from "./html-script.js";
import { PAGE_STYLE } from "./html-style.js";
import { shownName, whoText } from "./names.js";
import type { ForecastReport, PeakReport } from "./report.js";

/** Two weeks of minutes: a page with more would be slow in the hand. */
export const HTML_BUCKETS = 20_160;

export function htmlPage(forecast: Forecast, report: ForecastReport, hasGroups: boolean): string {
  const title = `Load forecast ${report.from} to ${report.to}`;
  const policy = `default-src 'none'; script-src '${hashOf(PAGE_SCRIPT)}'; style-src '${hashOf(PAGE_STYLE)}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>Load forecast</h1>
<p class="soft">${headText(report)}</p>
${cards(report)}
${chartSection(report, forecast)}
${peaksSection("Fullest buckets", report.with_windows.peaks, forecast, report)}
${peaksSection("Fullest buckets without windows", report.without_windows.peaks, forecast, report)}
${hasGroups ? groupsSection(report) : ""}
<footer class="soft">All times are UTC. Computed by Kron ${escaped(report.engine_version)} from the configuration alone, with zone data ${escaped(report.tz_version)}.</footer>
</main>
<script type="application/json" id="data">${scriptData(pageData(forecast))}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? "");
}

/** JSON that holds no character by which a data block could end or a parser of scripts stumble. */
export function scriptData(value: unknown): string {
  const unsafe = /[<>&\u2028\u2029]/g;
  return JSON.stringify(value).replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function headText({ from, to, bucket_seconds, jobs, suspended, unschedulable }: ForecastReport): string {
  const left = suspended === 0 ? "" : `; ${suspended} suspended left out`;
  const lost = unschedulable === 0 ? "" : `; ${plural(unschedulable, "period")} unschedulable`;
  return `${from} to ${to} (UTC) by ${formatDuration(bucket_seconds * SECOND_MS)}: ${plural(jobs, "job")}${left}${lost}`;
}

function cards({ with_windows, without_windows, overlap }: ForecastReport): string {
  const [peak, nominal] = [with_windows.peaks[0], without_windows.peaks[0]];
  const all: (readonly [name: string, value: number, note: string])[] = [
    ["Peak with windows", peak?.starts ?? 0, peak?.start ?? "nothing starts"],
    ["Peak without windows", nominal?.starts ?? 0, nominal?.start ?? "nothing starts"],
    ["Starts", with_windows.starts, `${without_windows.starts} without windows`],
  ];
  if (overlap !== null) {
    all.push(["At once", overlap.with_windows.peak, `${overlap.without_windows.peak} without windows`]);
  }
  const items = all.map(([name, value, note]) => `<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`);
  return `<dl class="cards">${items.join("")}</dl>`;
}

function chartSection({ from, to }: ForecastReport, { horizon }: Forecast): string {
  return `<section class="panel" id="live" aria-label="Starts over time" hidden>
<div class="bar">
<button type="button" data-series="chosen" aria-pressed="true"><i></i>with windows</button>
<button type="button" data-series="nominal" aria-pressed="true"><i class="out"></i>without windows</button>
</div>
<svg id="chart" tabindex="0" role="slider" aria-label="Starts for each bucket from ${from} to ${to}; arrow keys move" aria-valuemin="0" aria-valuemax="${horizon.buckets - 1}" aria-valuenow="0"></svg>
<div id="detail" aria-live="polite"></div>
</section>
<noscript><p class="soft">The chart needs JavaScript; the tables below do not.</p></noscript>`;
}

function peaksSection(
  title: string,
  peaks: readonly PeakReport[],
  { horizon }: Forecast,
  { by }: ForecastReport,
): string {
  const rows = peaks.map((peak) => {
    const at = parseInstant(peak.start);
    const bucket = at.ok ? bucketOf(horizon, at.value) : 0;
    const button = `<button type="button" data-bucket="${bucket}">${peak.start}</button>`;
    return `<tr><td>${button}</td><td class="n">${peak.starts}</td><td class="who">${escaped(whoText(peak))}</td></tr>`;
  });
  const head = `<tr><th scope="col">Bucket</th><th scope="col" class="n">Starts</th><th scope="col">By ${by}</th></tr>`;
  const body = rows.length === 0 ? `<tr><td colspan="3">nothing starts</td></tr>` : rows.join("\n");
  return `<h2>${title}</h2>\n<div class="scroll"><table class="peaks"><thead>${head}</thead><tbody>${body}</tbody></table></div>`;
}

function groupsSection({ by, groups, groups_total }: ForecastReport): string {
  const rows = groups.map((group) => {
    const numbers = [group.jobs, group.starts, group.peak, group.starts_without_windows, group.peak_without_windows];
    return `<tr><td class="who">${escaped(shownName(group.name))}</td>${numbers.map((value) => `<td class="n">${value}</td>`).join("")}</tr>`;
  });
  const titles = ["Jobs", "Starts", "Peak", "Starts without windows", "Peak without windows"];
  const head = titles.map((name) => `<th scope="col" class="n">${name}</th>`).join("");
  const hidden = groups_total - groups.length;
  const note = hidden === 0 ? "" : `<p class="soft">and ${hidden} more</p>`;
  return `<h2>By ${by}</h2>\n<div class="scroll"><table><thead><tr><th scope="col">Name</th>${head}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>${note}`;
}

/** Of each bucket with starts: how many others, then pairs of a name's number and its starts. Empty buckets are 0. */
type Who = readonly number[] | 0;

function pageData({ horizon, chosen, nominal, overlap }: Forecast): unknown {
  const names = new Map<string, number>();
  const chosenWho = whoOf(chosen, names);
  const nominalWho = whoOf(nominal, names);
  return {
    from: horizon.fromAt / SECOND_MS,
    bucket: horizon.bucketMs / SECOND_MS,
    first: chosen.peaks(1)[0]?.bucket ?? 0,
    chosen: [...chosen.counts],
    nominal: [...nominal.counts],
    chosenWho,
    nominalWho,
    ...(overlap === null ? {} : { running: [...overlap.chosen.most], runningNominal: [...overlap.nominal.most] }),
    names: [...names.keys()],
  };
}

function whoOf(series: Series, names: Map<string, number>): Who[] {
  return Array.from(series.counts, (count, bucket) => {
    if (count === 0) return 0;
    const { named, others } = series.contributorsOf(bucket);
    return [others, ...named.flatMap(({ name, starts }) => [numberOf(shownName(name), names), starts])];
  });
}

function numberOf(name: string, names: Map<string, number>): number {
  const known = names.get(name);
  if (known !== undefined) return known;
  names.set(name, names.size);
  return names.size - 1;
}
