/** The form of a scenario file, for the reader and for editors. */
import { z } from "zod";
import { CRASH_STEPS } from "./scenario.js";

const instant = z.string().meta({ description: "An RFC 3339 instant.", examples: ["2026-03-01T00:00:00Z"] });
const span = (description: string, examples: string[]): z.ZodString =>
  z
    .string()
    .meta({ description: `${description} A duration that may begin with days, such as 7d.`, examples }) as z.ZodString;
const chance = z.string().meta({ description: "A share of all attempts.", examples: ["5%", "0.1%"] });

const SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT", "SIGKILL", "SIGSEGV", "SIGPIPE", "SIGTERM"] as const;
const REFUSALS = [
  "command-not-found",
  "command-not-executable",
  "cwd-unusable",
  "user-unknown",
  "privilege-drop-failed",
  "output-unusable",
  "fork-failed",
  "descriptors-exhausted",
  "memory-exhausted",
  "address-forbidden",
  "dns-failed",
  "secret-unreadable",
] as const;
const FAILURES = ["connect-failed", "tls-failed", "connection-lost", "response-invalid", "response-too-large"] as const;

export const RUN_SHAPE = z
  .strictObject({
    match: z
      .string()
      .meta({ description: "Which identities: * stands for any characters, ? for one.", examples: ["prod/*"] }),
    duration: z
      .string()
      .meta({
        description:
          "How long runs take: a duration, never, or a law: uniform(a, b), normal(mean, sigma), lognormal(median, sigma of the logarithm), exponential(mean).",
        examples: ["30s", "lognormal(30s, 0.5)", "never"],
      })
      .optional(),
    fail: chance.optional(),
    exit: z.int().min(1).max(255).meta({ description: "Exit code of a run that fails; 1 by default." }).optional(),
    signal: z.enum(SIGNALS).meta({ description: "What ends a run that fails, instead of an exit code." }).optional(),
    status: z
      .int()
      .min(200)
      .max(599)
      .meta({ description: "Of the answer to a request that fails; 500 by default." })
      .optional(),
    answer: z
      .enum(FAILURES)
      .meta({ description: "How a request that fails ends without an answer, instead of a status." })
      .optional(),
    refuse: z.enum(REFUSALS).meta({ description: "Nothing is made ready, for this reason." }).optional(),
    refuse_chance: chance.optional(),
    ignores_term: z.boolean().meta({ description: "TERM does not end it; KILL does." }).optional(),
    unkillable: z.boolean().meta({ description: "Nothing ends it: a process stuck in the kernel." }).optional(),
    lost_start: chance.optional(),
    spawn: span("How long it takes to prepare a process.", ["20ms"]).optional(),
  })
  .meta({ description: "What the runs of some jobs do. Later rules win field by field." });

const DEEDS = [
  "crash",
  "down",
  "reboot",
  "lose-launcher",
  "jump",
  "freeze",
  "store-failure",
  "pause",
  "resume",
  "hint",
  "unhint",
  "run",
  "cancel",
  "reload",
] as const;

export const ACT_SHAPE = z
  .strictObject({
    at: instant.optional(),
    after: span("From the beginning, instead of an instant.", ["27h"]).optional(),
    do: z.enum(DEEDS).meta({ description: "What happens." }),
    for: span("How long: until the next start of the daemon, until it goes on, or until a pause or a hint ends.", [
      "5m",
    ]).optional(),
    by: z
      .string()
      .meta({ description: "How far the wall clock is moved.", examples: ["+1h", "-30s"] })
      .optional(),
    step: z
      .enum(CRASH_STEPS)
      .meta({ description: "Crash at the first such step from then on, instead of at once." })
      .optional(),
    job: z.string().meta({ description: "Which identities: * stands for any characters, ? for one." }).optional(),
    reason: z.string().meta({ description: "Why a pause or a hint." }).optional(),
    catch_up: z.boolean().meta({ description: "Pause: what is current when it ends is started then." }).optional(),
    every: span("Hint: the interval from the start of one run to the next.", ["30s"]).optional(),
    next: instant.meta({ description: "Hint: one run at this RFC 3339 instant." }).optional(),
    errno: z.enum(["EIO", "ENOSPC"]).meta({ description: "How the write fails; EIO by default." }).optional(),
    durable: z.boolean().meta({ description: "Whether the failed write is there all the same afterwards." }).optional(),
    config: z.string().meta({ description: "Another configuration, as seen from the scenario file." }).optional(),
  })
  .meta({ description: "Something that happens beside the jobs." });

export const SCENARIO_SHAPE = z
  .strictObject({
    from: instant.optional(),
    to: instant.optional(),
    horizon: span("How long, instead of an end.", ["7d"]).optional(),
    seed: z.int().min(0).meta({ description: "Another seed, other draws; 0 by default." }).optional(),
    runs: z.array(RUN_SHAPE).meta({ description: "What processes do." }).optional(),
    events: z.array(ACT_SHAPE).meta({ description: "What happens beside the jobs." }).optional(),
    expect: z
      .array(z.string().meta({ examples: ["missed=0", "peak<=50"] }))
      .meta({ description: "Rules that have to hold at the end." })
      .optional(),
  })
  .meta({ title: "Kron scenario", description: "What happens in a simulation beside the jobs themselves." });

export type RawScenario = z.infer<typeof SCENARIO_SHAPE>;
export type RawAct = z.infer<typeof ACT_SHAPE>;
export type RawRun = z.infer<typeof RUN_SHAPE>;

/** JSON Schema of a scenario file, for editors. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(SCENARIO_SHAPE, { target: "draft-2020-12", io: "input" });
  return { $id: "scenario.schema.json", ...schema };
}
