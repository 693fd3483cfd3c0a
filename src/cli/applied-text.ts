/** What became of a set of jobs that several nodes were told, for people and for scripts. */
import type { PlanReport } from "../actors/supervisor/port.js";
import { nodeOfPool } from "../core/job/pool.js";
import type { ApplyReport, Comparison, Stayed } from "../krond/apply/apply.js";
import type { UnservedPool } from "../krond/apply/wish.js";
import type { NodeFacts, ShardBehind } from "../persist/cluster.js";
import { planText, publishedPlan } from "./commands/plan.js";
import { plural } from "./format.js";
import type { Paint } from "./style.js";

export interface AppliedSet {
  readonly comparison: Comparison;
  readonly plan: PlanReport;
  /** null: it was only compared. */
  readonly report: ApplyReport | null;
  readonly nodes: readonly NodeFacts[];
  readonly unserved: readonly UnservedPool[];
}

export function appliedText(set: AppliedSet, paint: Paint): string {
  const { comparison, plan, report, unserved } = set;
  const verb = report === null ? "an apply would do" : `revision ${report.revision}`;
  const lines = [
    ...comparison.settings.map((name) => `${paint.yellow(`~ ${fieldName(name)}`)} (setting)`),
    planText({ plan, kept: [], problems: [] }, verb, paint).trimEnd(),
    ...(report === null ? [] : outcomeLines(report, set, paint)),
    ...unserved.map((one) => paint.yellow(`! ${unservedText(one)}`)),
  ];
  return `${lines.join("\n")}\n`;
}

function outcomeLines({ isOvertaken, stayed, behind }: ApplyReport, { nodes }: AppliedSet, paint: Paint): string[] {
  const lines = [
    ...(isOvertaken ? ["! somebody else has applied something since; 'kron node list' shows who has what"] : []),
    ...stayed.map((one) => `! ${one.identity} ${stayedText(one)}: ${one.because}; apply again later`),
    ...byNode(behind).map(([node, shards]) => `! node ${node} has not put it in force in ${plural(shards, "shard")}`),
  ].map((line) => paint.red(line));
  if (nodes.length === 0) return [...lines, paint.yellow("! no node lives: it is in force as soon as one starts")];
  return lines.length > 0 ? lines : [`in force on ${plural(nodes.length, "node")}`];
}

function stayedText({ pool }: Stayed): string {
  return pool === null ? "is out" : `stays in ${poolText(pool)}`;
}

function byNode(behind: readonly ShardBehind[]): readonly (readonly [node: string, shards: number])[] {
  const counts = new Map<string, number>();
  for (const { node } of behind) if (node !== null) counts.set(node, (counts.get(node) ?? 0) + 1);
  return [...counts].sort();
}

/** Shared with `kron node list`. */
export function unservedText({ pool, jobs }: UnservedPool): string {
  const waits = jobs === 1 ? "1 job waits" : `${jobs} jobs wait`;
  const node = nodeOfPool(pool);
  return node === null ? `pool ${pool} has no node: ${waits} for one` : `node ${node} is not there: ${waits} for it`;
}

function poolText(pool: string): string {
  const node = nodeOfPool(pool);
  return node === null ? `pool ${pool}` : `the pool of node ${node}`;
}

/** As it is written in a file. */
function fieldName(setting: string): string {
  return setting.replace(/Ms$|[A-Z]/g, (letter) => (letter === "Ms" ? "" : `_${letter.toLowerCase()}`));
}

export function publishedApplied({ comparison, plan, report, nodes, unserved }: AppliedSet): object {
  return {
    ...publishedPlan(plan),
    settings: comparison.settings.map(fieldName),
    revision: report?.revision ?? comparison.applied.revision,
    is_applied: report !== null,
    is_overtaken: report?.isOvertaken ?? false,
    nodes: nodes.map(({ node }) => node),
    stayed: report?.stayed ?? [],
    behind: byNode(report?.behind ?? []).map(([node, shards]) => ({ node, shards })),
    unserved,
  };
}
