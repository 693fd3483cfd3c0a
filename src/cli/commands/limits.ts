/** `kron limits`: what a tenant may use, and has used. */

import type { Problem } from "../../core/base/problem.js";
import type { Result } from "../../core/base/result.js";
import { formatSpan, parseSpan } from "../../core/time/span.js";
import type { LimitsAnswer } from "../../operations/endpoints/health.js";
import type { ParsedArgs } from "../args.js";
import { publishedAs } from "../endpoints/published.js";
import { asked, tenantOf, withTenant } from "../endpoints/tenant.js";
import { EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { printValue } from "../output.js";
import { type Paint, paintFor, renderTable } from "../style.js";
import { runVerb, type VerbRun } from "../verbs.js";
import { LIMITS_VERBS } from "./specs/limits.js";

type Limit = keyof LimitsAnswer["limits"];

/** In the order in which they are shown; what is used of each, where that is counted. */
const LIMITS: readonly (readonly [
  limit: Limit,
  option: string,
  used: keyof LimitsAnswer["used"] | null,
  resets: keyof LimitsAnswer["resets"] | null,
])[] = [
  ["executionsPerMinute", "executions-per-minute", null, null],
  ["executionBurst", "execution-burst", null, null],
  ["executionsPerMonth", "executions-per-month", "executionsThisMonth", "month"],
  ["endpoints", "endpoints", "endpoints", null],
  ["minIntervalMs", "min-interval", null, null],
  ["plannerCallsPerDay", "planner-calls-per-day", "plannerCallsToday", "day"],
  ["plannerTokensPerDay", "planner-tokens-per-day", "plannerTokensToday", "day"],
];
const NONE = "none";
const PAGE = 200;
/** What a list of tenants tells of each. */
const COUNTED = [
  ["endpoints", "endpoints"],
  ["executionsPerMonth", "executionsThisMonth"],
  ["plannerCallsPerDay", "plannerCallsToday"],
] as const satisfies readonly (readonly [Limit, keyof LimitsAnswer["used"]])[];

const show: VerbRun = (rest, args, io) => {
  if (rest.length > 0) throw usageError("limits show takes no arguments", "kron limits show --tenant acme");
  return withTenant(args, io, async (ask) => told(await ask<LimitsAnswer>({ op: "limits.get" }), args, io));
};

const set: VerbRun = (rest, args, io) => {
  if (rest.length > 0) throw usageError("limits set takes no arguments", "kron limits set --endpoints 100");
  const wanted = Object.fromEntries(LIMITS.flatMap(([limit, option]) => wantedOf(limit, option, args)));
  if (Object.keys(wanted).length === 0) throw usageError("there is nothing to set", "kron limits set --endpoints 100");
  return withTenant(args, io, async (ask) => {
    // The others stay as they are.
    const { limits } = await ask<LimitsAnswer>({ op: "limits.get" });
    const request = { ...limits, ...wanted, op: "limits.set", tenant: tenantOf(args), dryRun: args.has("dry-run") };
    return told(await asked<LimitsAnswer>(ask, request, refusal), args, io);
  });
};

function wantedOf(limit: Limit, option: string, args: ParsedArgs): readonly (readonly [Limit, number | null])[] {
  const text = args.text(option);
  if (text === undefined) return [];
  if (text === NONE) return [[limit, null]];
  if (limit === "minIntervalMs") return [[limit, readAs(option, parseSpan(text))]];
  if (/^\d{1,13}$/.test(text)) return [[limit, Number(text)]];
  throw usageError(`--${option}: "${text}" is not a whole number, and not none`);
}

function readAs(option: string, read: Result<number, Problem>): number {
  if (read.ok) return read.value;
  throw usageError(`--${option}: ${read.error.message}`, read.error.hint);
}

async function refusal([first]: readonly Problem[]): Promise<Error> {
  const field = first?.path[0];
  const option = LIMITS.find(([limit]) => limit === field)?.[1] ?? String(field ?? "");
  return usageError(`--${option}: ${first?.message ?? ""}`, first?.hint);
}

const list: VerbRun = (rest, args, io) => {
  if (rest.length > 0) throw usageError("limits list takes no arguments");
  return withTenant(args, io, async (ask) => {
    const tenants: LimitsAnswer[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: { readonly rows: readonly LimitsAnswer[]; readonly next: string | null } = await ask({
        op: "tenants.list",
        cursor,
        limit: PAGE,
      });
      tenants.push(...page.rows);
      cursor = page.next;
      if (cursor === null) break;
    }
    const published = tenants.map((tenant) => publishedAs({}, tenant));
    await printValue(published, () => tenantsText(tenants, paintFor(args, io)), args, io);
    return EXIT.ok;
  });
};

function tenantsText(tenants: readonly LimitsAnswer[], paint: Paint): string {
  const rows = tenants.map(({ tenant, limits, used }) => {
    const counted = COUNTED.map(
      ([limit, what]) => `${used[what]}${limits[limit] === null ? "" : ` of ${limits[limit]}`}`,
    );
    return [tenant, ...counted];
  });
  const header = ["TENANT", "ENDPOINTS", "RUNS THIS MONTH", "PLANNER CALLS TODAY"];
  return renderTable(header, rows, ["left", "right", "right", "right"], paint);
}

/** Without a verb they are shown. */
export function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const positionals = args.positionals.length === 0 ? ["show"] : args.positionals;
  return runVerb(LIMITS_VERBS, { show, list, set }, { ...args, positionals }, io);
}

async function told(answer: LimitsAnswer, args: ParsedArgs, io: CliIo): Promise<number> {
  await printValue(publishedAs({}, answer), () => limitsText(answer, paintFor(args, io)), args, io);
  return EXIT.ok;
}

function limitsText({ tenant, limits, used, resets, dryRun }: LimitsAnswer, paint: Paint): string {
  const rows = LIMITS.map(([limit, option, counted, again]) => {
    const bound = limits[limit];
    const shown = bound === null ? NONE : limit === "minIntervalMs" ? formatSpan(bound) : String(bound);
    return [option, shown, counted === null ? "-" : String(used[counted]), again === null ? "-" : resets[again]];
  });
  const header = ["LIMIT", "BOUND", "USED", "BEGINS ANEW"];
  const title = `tenant ${tenant}${dryRun === true ? ", as it would be; nothing was done" : ""}`;
  return `${title}\n${renderTable(header, rows, ["left", "right", "right", "left"], paint)}`;
}
