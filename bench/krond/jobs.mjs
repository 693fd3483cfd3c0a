/**
 * The jobs of these benchmarks, for every program in its own words. Resting ones are due in half a year, spread over a
 * month, with a window as jobs have one; due ones are all chosen for one and the same second.
 */
const MINUTE_MS = 60_000;
const MONTHS = 12;
const REST_MONTHS = 6;
const DAYS = 28;
/** The most that Debian's cron reads of one file. */
export const CRONTAB_LINES = 10_000;

/** A cron expression that does not come up for about half a year. */
export function restingExpression(index, now) {
  const month = ((new Date(now).getUTCMonth() + REST_MONTHS) % MONTHS) + 1;
  const minute = index % 60;
  const hour = Math.floor(index / 60) % 24;
  const day = (Math.floor(index / (60 * 24)) % DAYS) + 1;
  return `${minute} ${hour} ${day} ${month} *`;
}

export function restingJob(index, now) {
  return {
    identity: `bench/resting-${index}`,
    schedule: restingExpression(index, now),
    window: { mode: "after", duration: "10m" },
    policy: { deadline: "5m" },
    command: ["/bin/true"],
  };
}

/**
 * A schedule has whole minutes only. The second inside them is the middle of a window that ends as long after it as it
 * begins before it, and a bell curve so narrow that nothing else is ever drawn.
 */
export function dueJob(identity, dueAt, command) {
  const nominalAt = Math.floor(dueAt / MINUTE_MS) * MINUTE_MS;
  const date = new Date(nominalAt);
  const seconds = (dueAt - nominalAt) / 1000;
  return {
    identity,
    schedule: `${date.getUTCMinutes()} ${date.getUTCHours()} ${date.getUTCDate()} ${date.getUTCMonth() + 1} *`,
    window: { mode: "after", duration: `${2 * seconds}s` },
    distribution: { name: "normal", mu: "mid", sigma: "1ms" },
    policy: { deadline: "30s" },
    command,
  };
}

/** By Kron's own word: whoever is chosen for another second would be counted as early or late. */
export async function assertChosen(job, dueAt) {
  const { compileRule, decide, readJobDefinition } = await import("../../dist/index.js");
  const { chosenAt } = decide(compileRule(readJobDefinition(job).value), Math.floor(dueAt / MINUTE_MS) * MINUTE_MS);
  if (chosenAt !== dueAt) throw new Error(`bench: ${job.identity} is chosen for ${chosenAt}, not for ${dueAt}`);
}

export function jsonLines(jobs) {
  return jobs.map((job) => `${JSON.stringify(job)}\n`).join("");
}

/** By hand, as people write it: an entry of several lines a job. */
export function yaml(jobs) {
  const fields = (job) =>
    Object.entries(job).map(
      ([key, value], index) => `${index === 0 ? "  - " : "    "}${key}: ${JSON.stringify(value)}\n`,
    );
  return `jobs:\n${jobs.flatMap(fields).join("")}`;
}

/** Texts of as many system crontabs as the lines need; `first` is a line that comes before all others. */
export function crontabs(lines, first = null) {
  const all = first === null ? lines : [first, ...lines];
  const files = [];
  for (let from = 0; from < all.length; from += CRONTAB_LINES) {
    files.push(`${all.slice(from, from + CRONTAB_LINES).join("\n")}\n`);
  }
  return files;
}

export function crontabLine(expression, command) {
  return `${expression} root ${command}`;
}
