/**
 * How the rows of each budget become tables: what a row's name says about its table, its column and whose value it is.
 * Budgets are checked here against what was measured; why one is missed is told in reasons.json.
 */
const KRON = "Kron";

function parts(name) {
  return name.split(", ");
}

/** "next occurrence, UTC": one table of zones. */
function byLast({ name }) {
  const [what, ...rest] = parts(name);
  return { table: what, column: rest.join(", "), subject: KRON };
}

/** "lateness p99, 1,000 at once": a table for each size, and in it a column for each figure. */
function byFigure({ name }) {
  const [what, ...rest] = parts(name);
  return { table: rest.join(", "), column: what, subject: KRON };
}

/** "registering, 1,000 tasks, memoryStore, 3 rounds": a table for each figure, a column for each size. */
function byStore({ name }) {
  const match = /^(.*), ([\d,]+ tasks), (\w+), \d+ rounds?$/.exec(name);
  if (match === null) return { table: name, column: "", subject: KRON };
  return { table: match[1], column: match[2], subject: `Kron, ${match[3]}` };
}

export const LAYOUTS = {
  P1: byLast,
  P3: byFigure,
  P5: byFigure,
  P7: byFigure,
  P8: byFigure,
  P9: byFigure,
  D1: byStore,
  D2: byStore,
  D3: byStore,
  D4: byStore,
};

/** Several rows' figures in one table, each with its own verdict. */
function least(rows, value) {
  const values = rows.map(value).filter((one) => Number.isFinite(one));
  return values.length === 0 ? null : Math.min(...values);
}

function most(rows, value) {
  const values = rows.map(value).filter((one) => Number.isFinite(one));
  return values.length === 0 ? null : Math.max(...values);
}

function named(rows, pattern) {
  return rows.filter(({ name }) => pattern.test(name));
}

function against(rows, pattern) {
  return rows.filter(({ peer }) => pattern.test(peer ?? ""));
}

const times = (value) => `${Number(value.toPrecision(3))} ×`;
const microseconds = (value) => `${Number(value.toPrecision(3))} µs`;
const perSecond = (value) => `${Math.round(value).toLocaleString("en")}/s`;
const milliseconds = (value) => `${Number(value.toPrecision(3))} ms`;

/**
 * `figure` picks what was measured (null: it was not), `isHeld` says whether that is within the budget, `told` how it is
 * written.
 */
export const BUDGETS = [
  {
    id: "P1",
    key: "P1-javascript",
    budget: "faster than every JavaScript library, in every zone",
    figure: (rows, better) =>
      least(
        rows.filter(({ peer }) => !peer?.includes("(Go)")),
        better,
      ),
    isHeld: (value) => value > 1,
    told: times,
  },
  {
    id: "P1",
    key: "P1-croner",
    budget: "at least 50 × croner",
    figure: (rows, better) => least(against(rows, /^croner$/), better),
    isHeld: (value) => value >= 50,
    told: times,
  },
  {
    id: "P1",
    key: "P1-cron-parser",
    budget: "at least 200 × cron-parser",
    figure: (rows, better) => least(against(rows, /^cron-parser$/), better),
    isHeld: (value) => value >= 200,
    told: times,
  },
  {
    id: "P1",
    key: "P1-go",
    budget: "level with Go's robfig/cron",
    figure: (rows, better) => least(against(rows, /\(Go\)/), better),
    isHeld: (value) => value >= 1,
    told: times,
  },
  {
    id: "P2",
    key: "P2-decide",
    budget: "at least 500,000 decisions a second on one core",
    figure: (rows) => least(named(rows, /^decide(?! in the pool)/), ({ value }) => value),
    isHeld: (value) => value >= 500_000,
    told: perSecond,
  },
  {
    id: "P2",
    key: "P2-pool",
    budget: "with the pool on two cores at least 1.6 × as many",
    figure: (rows, better) => least(named(rows, /^decide in the pool/), better),
    isHeld: (value) => value >= 1.6,
    told: times,
  },
  {
    id: "P3",
    key: "P3-million",
    budget: "at most 250 bytes of own memory a resting job at 1,000,000 jobs",
    figure: (rows) => most(named(rows, /when settled, 1,000,000 jobs/), ({ value }) => value),
    isHeld: (value) => value <= 250,
    told: (value) => `${Math.round(value)} bytes`,
  },
  {
    id: "P4",
    key: "P4-first",
    budget: "first start with 100,000 jobs from files at most 10 s",
    figure: (rows) => most(named(rows, /^time until ready, first start, .*, 100,000 jobs/), ({ value }) => value),
    isHeld: (value) => value <= 10_000,
    told: milliseconds,
  },
  {
    id: "P4",
    key: "P4-restart",
    budget: "restart with 100,000 jobs at most 1 s (after an orderly end)",
    figure: (rows) => most(named(rows, /^time until ready, restart, .*, 100,000 jobs/), ({ value }) => value),
    isHeld: (value) => value <= 1_000,
    told: milliseconds,
  },
  {
    id: "P4",
    key: "P4-million",
    budget: "restart with 1,000,000 jobs at most 6 s (after an orderly end)",
    figure: (rows) => most(named(rows, /^time until ready, restart, .*, 1,000,000 jobs/), ({ value }) => value),
    isHeld: (value) => value <= 6_000,
    told: milliseconds,
  },
  {
    id: "P4",
    key: "P4-suspended",
    budget: "the same when most jobs are suspended: no more than a quarter longer",
    figure: (rows, better) => least(named(rows, /^time until ready, .*, most suspended$/), better),
    isHeld: (value) => value >= 0.8,
    told: times,
  },
  {
    id: "P4",
    key: "P4-loop-p99",
    budget: "delay of the event loop while starting: p99 at most 20 ms",
    figure: (rows) => most(named(rows, /^delay of the event loop p99/), ({ value }) => value),
    isHeld: (value) => value <= 20,
    told: milliseconds,
  },
  {
    id: "P4",
    key: "P4-loop-max",
    budget: "delay of the event loop while starting: at most 100 ms",
    figure: (rows) => most(named(rows, /^delay of the event loop max/), ({ value }) => value),
    isHeld: (value) => value <= 100,
    told: milliseconds,
  },
  {
    id: "P5",
    key: "P5-gates",
    budget: "1,000 at once: p99 of lateness at most 1.15 × that of bare gates (so at least 0.87 × as good)",
    figure: (rows, better) => least(against(named(rows, /^start lateness p99, 1,000 /), /^gates alone/), better),
    isHeld: (value) => value >= 1 / 1.15,
    told: times,
  },
  {
    id: "P5",
    key: "P5-cron",
    budget: "1,000 at once: p99 of lateness at least 12 × better than Debian cron's",
    figure: (rows, better) => least(against(named(rows, /^start lateness p99, 1,000 /), /cron/), better),
    isHeld: (value) => value >= 12,
    told: times,
  },
  {
    id: "P5",
    key: "P5-rate-default",
    budget: "5,000 at once with default settings: at least 2,000 starts a second",
    figure: (rows) => least(named(rows, /^starts a second, 5,000 [^,]*$/), ({ value }) => value),
    isHeld: (value) => value >= 2_000,
    told: perSecond,
  },
  {
    id: "P5",
    key: "P5-rate",
    budget: "the same, all of them made ready (`max_armed`): at least 85 % of the starts a second of bare gates",
    figure: (rows, better) =>
      least(against(named(rows, /^starts a second, 5,000 .*max_armed/), /^gates alone/), better),
    isHeld: (value) => value >= 0.85,
    told: times,
  },
  {
    id: "P5",
    key: "P5-loop",
    budget: "delay of the event loop meanwhile: p99 at most 20 ms",
    figure: (rows) => most(named(rows, /event loop/), ({ value }) => value),
    isHeld: (value) => value <= 20,
    told: milliseconds,
  },
  {
    id: "P5",
    key: "P5-missed",
    budget: "none missed within a deadline of 30 s",
    figure: (rows) => least(named(rows, /^executed within a deadline/), ({ value }) => value),
    isHeld: (value) => value === 100,
    told: (value) => `${value} % executed`,
  },
  {
    id: "P5b",
    key: "P5b-slot",
    budget: "all steps of a run of a slot together at most 30 µs",
    figure: (rows) => most(named(rows, /^a run of a slot, all steps/), ({ value }) => value),
    isHeld: (value) => value <= 30,
    told: microseconds,
  },
  {
    id: "P5b",
    key: "P5b-process",
    budget: "the five steps of a run of a period together at most 45 µs",
    figure: (rows) => most(named(rows, /^a run of a period, all steps/), ({ value }) => value),
    isHeld: (value) => value <= 45,
    told: microseconds,
  },
  {
    id: "P5b",
    key: "P5b-durable",
    budget: "a whole durable run, 256 at a time, at most 150 µs of processor time",
    figure: (rows) => most(named(rows, /^a whole durable run/), ({ value }) => value),
    isHeld: (value) => value <= 150,
    told: microseconds,
  },
  {
    id: "P5b",
    key: "P5b-sight",
    budget: "first sight of a job at most 20 µs",
    figure: (rows) => most(named(rows, /^first sight of a job/), ({ value }) => value),
    isHeld: (value) => value <= 20,
    told: microseconds,
  },
  {
    id: "P6",
    key: "P6-raw",
    budget: "at least 85 % of what lmdb alone does with the same bytes",
    figure: (rows, better) => least(against(named(rows, /^durable transitions/), /^lmdb/), better),
    isHeld: (value) => value >= 0.85,
    told: times,
  },
  {
    id: "P7",
    key: "P7-p99",
    budget: "10,000 at once: p99 of lateness at most 100 ms",
    figure: (rows) => most(named(rows, /^lateness p99, 10,000/), ({ value }) => value),
    isHeld: (value) => value <= 100,
    told: milliseconds,
  },
  {
    id: "P7",
    key: "P7-bullmq",
    budget: "10,000 at once: p99 at least 5 × sooner than BullMQ's, whichever way it is used",
    figure: (rows, better) => least(against(named(rows, /^lateness p99, 10,000/), /^BullMQ/), better),
    isHeld: (value) => value >= 5,
    told: times,
  },
  {
    id: "P8",
    key: "P8-cpu",
    budget: "at most 0.5 % of a core with 100,000 resting jobs",
    figure: (rows) => most(named(rows, /^processor time, 100,000/), ({ value }) => value),
    isHeld: (value) => value <= 0.5,
    told: (value) => `${Number(value.toPrecision(2))} %`,
  },
  {
    id: "P7",
    key: "P7-http",
    budget: "10,000 requests due in one second, claims durable: p99 of lateness at most 1 s",
    figure: (rows) => most(named(rows, /^requests: lateness p99, 10,000/), ({ value }) => value),
    isHeld: (value) => value <= 1_000,
    told: milliseconds,
  },
  {
    id: "P9",
    key: "P9-rate",
    budget: "at least 3,000 runs of endpoints a second with full records, on two cores",
    figure: (rows) => most(named(rows, /^runs of endpoints, 256/), ({ value }) => value),
    isHeld: (value) => value >= 3_000,
    told: perSecond,
  },
  {
    id: "P9",
    key: "P9-late",
    budget: "p99 of lateness at most 250 ms at that rate",
    figure: (rows) => most(named(rows, /^runs: lateness p99, .* a second/), ({ value }) => value),
    isHeld: (value) => value <= 250,
    told: milliseconds,
  },
  {
    id: "P9",
    key: "P9-loop",
    budget: "delay of the event loop at that rate: p99 at most 20 ms",
    figure: (rows) => most(named(rows, /^delay of the event loop, p99, .* a second/), ({ value }) => value),
    isHeld: (value) => value <= 20,
    told: milliseconds,
  },
  {
    id: "P10",
    key: "P10-seconds",
    budget: "10,000 jobs over 24 hours in at most 3 s",
    figure: (rows) => most(named(rows, /10,000 jobs × 24 h/), ({ value }) => value),
    isHeld: (value) => value <= 3,
    told: (value) => `${Number(value.toPrecision(3))} s`,
  },
  {
    id: "P11",
    key: "P11-log",
    budget: "by the number of jobs or tasks: like log n, the exponent at most 0.35 with all that caches add",
    figure: (rows) =>
      most(
        rows.filter(({ grows }) => grows === "log"),
        ({ slope }) => slope,
      ),
    isHeld: (value) => value <= 0.35,
    told: (value) => `exponent ${value.toFixed(2)}`,
  },
  {
    id: "P11",
    key: "P11-not",
    budget: "by the length of the past, of a gap, of a window: not at all, the exponent at most 0.1",
    figure: (rows) =>
      most(
        rows.filter(({ grows }) => grows === "not"),
        ({ slope }) => slope,
      ),
    isHeld: (value) => value <= 0.1,
    told: (value) => `exponent ${value.toFixed(2)}`,
  },
  {
    id: "P12",
    key: "P12-page",
    budget: "a page of 100,000 jobs with its total within 20 ms",
    figure: (rows) =>
      most(
        named(rows, /, 100,000 jobs/).filter(({ name }) => !name.startsWith("delay")),
        ({ value }) => value,
      ),
    isHeld: (value) => value <= 20,
    told: milliseconds,
  },
  {
    id: "P12",
    key: "P12-million",
    budget: "a page of 1,000,000 jobs with its total within 150 ms",
    figure: (rows) =>
      most(
        named(rows, /, 1,000,000 jobs/).filter(({ name }) => !name.startsWith("delay")),
        ({ value }) => value,
      ),
    isHeld: (value) => value <= 150,
    told: milliseconds,
  },
  {
    id: "P12",
    key: "P12-loop",
    budget: "the loop is not held meanwhile: p99 of its delay at most 20 ms",
    figure: (rows) => most(named(rows, /^delay of the event loop meanwhile, p99/), ({ value }) => value),
    isHeld: (value) => value <= 20,
    told: milliseconds,
  },
  {
    id: "P14",
    key: "P14-changes",
    budget: "1,000 changes of endpoints a second, durable, with 100,000 of them",
    figure: (rows) => least(named(rows, /^(made|changed|deleted), 100,000/), ({ value }) => value),
    isHeld: (value) => value >= 1_000,
    told: perSecond,
  },
  {
    id: "P15",
    key: "P15-rate",
    budget: "at least 5,000 durable claims a second in PostgreSQL, on two cores",
    figure: (rows) => most(named(rows, /^runs claimed and finished .*1,000 due/), ({ value }) => value),
    isHeld: (value) => value >= 5_000,
    told: perSecond,
  },
  {
    id: "P15",
    key: "P15-peers",
    budget: "at least 3 × each peer, as it is tuned best",
    figure: (rows, better) => least(named(rows, /^runs claimed and finished/), better),
    isHeld: (value) => value >= 3,
    told: times,
  },
  {
    id: "P13",
    key: "P13-commands",
    budget: "version, help and completion within 100 ms of Node that does nothing",
    figure: (rows) => most(rows, ({ value, peer_value: node }) => value - node),
    isHeld: (value) => value <= 100,
    told: (value) => `${Number(value.toPrecision(3))} ms more`,
  },
  {
    id: "P16",
    key: "P16-loop",
    budget: "delay of the event loop as without anybody (P5): p99 at most 20 ms",
    figure: (rows) => most(named(rows, /^delay of the event loop p99/), ({ value }) => value),
    isHeld: (value) => value <= 20,
    told: milliseconds,
  },
  {
    id: "P16",
    key: "P16-late",
    budget: "p99 of lateness at most 5 % worse, where nobody draws on the same cores",
    figure: (rows, better) => least(named(rows, /^start lateness p99, .*not drawn$/), better),
    isHeld: (value) => value >= 1 / 1.05,
    told: times,
  },
  {
    id: "P16",
    key: "P16-task",
    budget: "the pages can be used meanwhile: no task holds one for longer than 200 ms",
    figure: (rows) => most(named(rows, /longest task/), ({ value }) => value),
    isHeld: (value) => value <= 200,
    told: milliseconds,
  },
];
