/** The columns of `kron endpoint list`, the least important ones shortened first. */
import type { EpochMs } from "../../core/time/instant.js";
import type { Zone } from "../../core/time/zone.js";
import { Times } from "../list/columns.js";
import type { Cell, Column } from "../table.js";
import type { NamedEndpoint } from "./names.js";
import { scheduleText, shortSchedule, statusCell } from "./texts.js";

/** `zone` null: times are those of UTC. */
export function endpointColumns(now: EpochMs, zone: Zone | null): readonly Column<NamedEndpoint>[] {
  const times = new Times(now, zone);
  const where = zone === null ? "UTC" : "LOCAL";
  return [
    { title: "ENDPOINT", rank: 6, least: 16, cap: 40, cell: ({ label }) => label },
    {
      title: "SCHEDULE",
      rank: 1,
      least: 9,
      cap: 40,
      cell: ({ endpoint }) => ({ text: scheduleText(endpoint), short: shortSchedule(endpoint) }),
    },
    { title: `NEXT (${where})`, shortTitle: "NEXT", rank: 4, least: 10, cell: (row) => nextCell(row, times) },
    { title: "BY", rank: 2, least: 5, cell: sourceCell },
    { title: "LAST RUN", rank: 5, least: 7, cell: (row) => lastCell(row, times) },
    { title: "FAILED", rank: 3, least: 1, cell: failuresCell },
  ];
}

function nextCell({ endpoint }: NamedEndpoint, times: Times): Cell {
  const { status, nextRunAt, pausedUntil, running } = endpoint;
  if (status === "held") return { text: "held by its job", short: "held", colour: "dim" };
  if (status === "paused" && pausedUntil !== null) {
    const left = times.distance(pausedUntil).replace(/^in /, "");
    return { text: `paused until ${times.text(pausedUntil)}`, short: `paused ${left}`, colour: "yellow" };
  }
  if (nextRunAt === null) return running > 0 ? { text: "running", colour: "cyan" } : { text: "-" };
  const distance = times.distance(nextRunAt);
  return { text: `${times.text(nextRunAt)} (${distance})`, short: distance };
}

/** What a hint has brought about is no part of what was configured. */
function sourceCell({ endpoint: { nextSource } }: NamedEndpoint): Cell {
  const text = nextSource ?? "-";
  const short = text.replace(/^baseline-/, "");
  return text.startsWith("ai-") ? { text, short: text.slice("ai-".length), colour: "cyan" } : { text, short };
}

function lastCell({ endpoint }: NamedEndpoint, times: Times): Cell {
  const { trouble, lastStatus, lastRunAt } = endpoint;
  // S46: what is wrong now goes before what was.
  if (trouble !== null) return { text: trouble, colour: "red" };
  return statusCell(lastStatus, lastRunAt === null ? "" : ` ${times.text(lastRunAt)}`);
}

function failuresCell({ endpoint: { failureCount } }: NamedEndpoint): Cell {
  return failureCount === 0 ? { text: "-" } : { text: String(failureCount), colour: "red" };
}
