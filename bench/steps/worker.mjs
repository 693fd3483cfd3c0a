/** One contender in a process of its own, so that nobody runs code that was made fast for somebody else. */
import { mkdirSync } from "node:fs";
import { restingJob } from "../krond/jobs.mjs";

const { task, entry, ...settings } = JSON.parse(process.argv[2]);
const measured = await import(entry);

/** Until a job has as much of a past as it keeps. */
const LEAST_DAYS = 20;

const TASKS = {
  runs: ({ kind, jobs, days, warmUpDays, rounds }) =>
    Array.from({ length: rounds }, (_, round) =>
      measured.measureRuns(kind, jobs, days, round === 0 ? warmUpDays : LEAST_DAYS),
    ),
  sight: ({ jobs, rounds }) => {
    const now = Date.now();
    const raws = Array.from({ length: jobs }, (_, index) => restingJob(index, now));
    // The first one is what the compiler needs.
    return measured.measureFirstSight(raws, rounds + 1).slice(1);
  },
  durable: async ({ directory, jobs, historyLimit, runs, warmUpRuns, atATime, rounds }) => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const bench = await measured.startBench(directory, jobs, historyLimit);
    await bench.measure(warmUpRuns, atATime);
    const done = [];
    for (let round = 0; round < rounds; round += 1) done.push({ cpu: await bench.measure(runs, atATime) });
    await bench.close();
    return done;
  },
};

process.stdout.write(JSON.stringify(await TASKS[task](settings)));
process.exit(0);
