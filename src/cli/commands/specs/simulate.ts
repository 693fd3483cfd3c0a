import { METRICS } from "../../../simulation/metrics.js";
import { CONFIG_OPTION, CRONTAB_OPTION, type OptionSpec } from "../../args.js";
import type { CommandSpec } from "../../command.js";

const METRICS_PER_LINE = 9;

function metricLines(): string {
  const names = Object.keys(METRICS);
  const lines = names.map((_, at) => (at % METRICS_PER_LINE === 0 ? names.slice(at, at + METRICS_PER_LINE) : []));
  return lines.flatMap((line) => (line.length === 0 ? [] : [line.join(", ")])).join(",\n");
}

const SIMULATION_OPTIONS: readonly OptionSpec[] = [
  { name: "from", value: "T", help: "begin at this RFC 3339 instant (default: now)" },
  { name: "to", value: "T", help: "end at this instant" },
  { name: "horizon", value: "FOR", help: "simulate so long, such as 7d (default: 1d)" },
  { name: "scenario", value: "FILE", help: "what happens beside the jobs, as a YAML file" },
  { name: "seed", value: "N", help: "another seed, other draws (default: 0)" },
  {
    name: "duration",
    value: "GLOB=LAW",
    repeats: true,
    help: "how long runs take: 30s, never, lognormal(30s, 0.5) … (default: 10s)",
  },
  { name: "fail", value: "GLOB=5%", repeats: true, help: "share of runs that fail" },
  { name: "exit", value: "GLOB=CODE", repeats: true, help: "exit code of runs that fail (default: 1)" },
  { name: "signal", value: "GLOB=SIGNAL", repeats: true, help: "runs that fail end by this signal" },
  {
    name: "refuse",
    value: "GLOB=REASON[:5%]",
    repeats: true,
    help: "no process is created: command-not-found, fork-failed …",
  },
  { name: "spawn", value: "GLOB=FOR", repeats: true, help: "how long it takes to prepare a process" },
  { name: "ignore-term", value: "GLOB", repeats: true, help: "TERM does not end them, KILL does" },
  { name: "unkillable", value: "GLOB", repeats: true, help: "nothing ends them" },
  {
    name: "crash",
    value: "T[,FOR][,STEP]",
    repeats: true,
    help: "kill the daemon at T (or +27h), start it again after FOR",
  },
  { name: "down", value: "T,FOR", repeats: true, help: "stop the daemon in order, and start it again" },
  { name: "reboot", value: "T[,FOR]", repeats: true, help: "the machine goes down: no process survives" },
  { name: "launcher-death", value: "T", repeats: true, help: "the launcher process dies" },
  { name: "store-failure", value: "T[,ERRNO]", repeats: true, help: "the next write of state fails" },
  { name: "jump", value: "T,+1h", repeats: true, help: "move the wall clock" },
  { name: "freeze", value: "T,FOR", repeats: true, help: "everything stands still, as a paused virtual machine does" },
  { name: "pause", value: "T,JOB,FOR", repeats: true, help: "pause jobs, as an operator does" },
  { name: "resume", value: "T,JOB", repeats: true, help: "resume them" },
  {
    name: "hint",
    value: "T,JOB,EVERY,FOR",
    repeats: true,
    help: "let jobs run at an interval for a while, as 'kron hint' does",
  },
  { name: "hint-once", value: "T,JOB,NEXT", repeats: true, help: "let jobs run once at an instant" },
  { name: "unhint", value: "T,JOB", repeats: true, help: "clear the hints" },
  { name: "run", value: "T,JOB", repeats: true, help: "run a job by hand" },
  { name: "cancel", value: "T,JOB", repeats: true, help: "cancel what runs" },
  { name: "reload", value: "T,PATH", repeats: true, help: "reload with another configuration" },
];

export const SIMULATE: CommandSpec = {
  name: "simulate",
  summary: "run a whole configuration on a virtual clock",
  usage: "[FILE...] [OPTIONS]",
  details: `
Runs every job of the configuration through the very program that krond runs, on a clock that jumps from event to event
and with processes that are only pretended: what would have happened, and what would happen if the daemon crashed, the
clock were moved or every tenth run failed. The same input and seed give the same output, to the byte. Flags that say
what happens can be given several times; '+27h' stands for 27 hours after the beginning.

  kron simulate --from 2026-03-01T00:00:00Z --horizon 7d --duration 'prod/*=lognormal(30s, 0.5)' --crash +27h \\
    --expect missed=0 --expect 'peak<=50'

Exits 2 if a rule of --expect is broken. Rules compare one of these figures with a number:
${metricLines()}.`,
  options: [
    CONFIG_OPTION,
    CRONTAB_OPTION,
    ...SIMULATION_OPTIONS,
    { name: "expect", value: "RULE", repeats: true, help: "a rule that has to hold, such as missed=0 or 'peak<=50'" },
    { name: "timeline", help: "print what happens, in order" },
    { name: "all", help: "show every job, however many there are" },
    { name: "speed", help: "say on standard error how fast it went" },
  ],
};
