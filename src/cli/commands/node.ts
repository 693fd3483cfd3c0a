/** `kron node`: the nodes that share a database, as it knows them, and what an operator does with them. */
import { unwrap } from "../../core/base/result.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../../core/time/instant.js";
import { formatSpan } from "../../core/time/span.js";
import type { UnservedPool } from "../../krond/apply/wish.js";
import type { ClusterAdmin, NodeFacts, ShardBehind } from "../../persist/cluster.js";
import { unservedText } from "../applied-text.js";
import type { ParsedArgs } from "../args.js";
import { EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { printValue } from "../output.js";
import { withShared } from "../shared-place.js";
import { type Align, type Paint, paintFor, renderTable } from "../style.js";
import { only, runVerb, type VerbRun } from "../verbs.js";
import { NODE_VERBS } from "./specs/node.js";

const HEADER = ["NODE", "SINCE", "LEASE", "SHARDS", "POOLS", "ENGINE", "IS"];
const ALIGN: readonly Align[] = ["left", "left", "right", "right", "left", "left", "left"];

const list: VerbRun = (rest, args, io) => {
  if (rest.length > 0) throw usageError("node list takes no arguments", "kron node list");
  return withShared(args, io, async ({ admin }) => {
    const nodes = [...unwrap(await admin.nodes())].sort((one, other) => (one.node < other.node ? -1 : 1));
    const waiting = waitingJobs(unwrap(await admin.shardsBehind(Number.MAX_SAFE_INTEGER)));
    const paint = paintFor(args, io);
    const text = (): string => {
      const table = nodes.length === 0 ? "no node lives\n" : nodesText(nodes, io.now(), paint);
      return table + waiting.map((one) => paint.yellow(`! ${unservedText(one)}\n`)).join("");
    };
    const rows = nodes.map((facts) => published(facts));
    await printValue(rows, text, args, io);
    return EXIT.ok;
  });
};

/** Of all shards: in which of them jobs are wanted that nobody looks after. */
function waitingJobs(shards: readonly ShardBehind[]): readonly UnservedPool[] {
  const counts = new Map<string, number>();
  for (const { pool, node, jobs } of shards) {
    if (node === null && jobs > 0) counts.set(pool, (counts.get(pool) ?? 0) + jobs);
  }
  return [...counts].map(([pool, jobs]) => ({ pool, jobs }));
}

function nodesText(nodes: readonly NodeFacts[], now: EpochMs, paint: Paint): string {
  const rows = nodes.map((facts) => {
    const { node, startedAt, expiresAt, shards, pools, engine } = facts;
    const leftMs = Math.max(0, Math.round((expiresAt - now) / SECOND_MS)) * SECOND_MS;
    const since = formatInstant(startedAt - (startedAt % SECOND_MS));
    return [node, since, formatSpan(leftMs), String(shards.length), pools.join(","), engine, standingOf(facts)];
  });
  return renderTable(HEADER, rows, ALIGN, paint);
}

function standingOf({ isDraining, shards }: NodeFacts): string {
  if (!isDraining) return "serving";
  return shards.length === 0 ? "drained" : "draining";
}

function published(facts: NodeFacts): object {
  const { node, startedAt, expiresAt, shards, pools, engine, tz, pid } = facts;
  const counts = new Map<string, number>();
  for (const { pool } of shards) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  return {
    node,
    since: formatInstant(startedAt),
    lease_until: formatInstant(expiresAt),
    pools,
    shards: Object.fromEntries(counts),
    engine,
    tz,
    pid,
    standing: standingOf(facts),
  };
}

type Deed = (admin: ClusterAdmin, node: string) => Promise<string>;

/** Of one node, and what is told of it afterwards. */
function withNode(usage: string, deed: Deed): VerbRun {
  return (rest, args, io) => {
    const node = only(rest, usage);
    return withShared(args, io, async ({ admin }) => {
      const text = await deed(admin, node);
      await printValue({ node, done: usage.split(" ")[1] }, () => `${text}\n`, args, io);
      return EXIT.ok;
    });
  };
}

const drain: VerbRun = withNode("node drain NODE", async (admin, node) => {
  unwrap(await admin.drain(node, true));
  return `${node} gives its jobs away; 'kron node list' shows when it is drained`;
});

const undrain: VerbRun = withNode("node undrain NODE", async (admin, node) => {
  unwrap(await admin.drain(node, false));
  return `${node} takes its share again`;
});

const evict: VerbRun = withNode("node evict NODE", async (admin, node) => {
  unwrap(await admin.evict(node));
  return `${node} has no session any more: others take its jobs, and its daemon ends if it lives`;
});

const forget: VerbRun = withNode("node forget NODE", async (admin, node) => {
  const { wasKnown } = unwrap(await admin.forget(node));
  if (!wasKnown)
    return `no node ${node} was ever here, as far as this store remembers: noted, in case there are runs of it`;
  return `${node} is forgotten: what it was running is given up for lost, and never started again`;
});

/** Without a verb they are shown. */
export function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const positionals = args.positionals.length === 0 ? ["list"] : args.positionals;
  return runVerb(NODE_VERBS, { list, drain, undrain, evict, forget }, { ...args, positionals }, io);
}
