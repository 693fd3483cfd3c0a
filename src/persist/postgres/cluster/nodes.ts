/** Who is there, as members and whoever looks from outside see it. */
import type { NodeFacts } from "../../cluster.js";

export interface NodeRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly node: string;
  readonly boot_id: string;
  readonly pid: number;
  readonly engine: string;
  readonly tz: string;
  readonly pools: readonly string[];
  readonly is_draining: boolean;
  readonly started_ms: number;
  readonly expires_ms: number;
  readonly shards: readonly (readonly [pool: string, number: number])[];
}

/** In the order of their names. */
export const NODES = `select s.id, s.node, s.boot_id, s.pid, s.engine, s.tz, s.pools, s.is_draining,
    extract(epoch from s.started_at)::float8 * 1000 as started_ms, extract(epoch from s.expires_at)::float8 * 1000 as expires_ms,
    (select coalesce(json_agg(json_build_array(h.pool, h.number) order by h.pool, h.number), '[]')
      from kron.shard h where h.session = s.id) as shards
  from kron.session s where not s.is_alone and s.expires_at > clock_timestamp() order by s.node`;

export function toNode(row: NodeRow): NodeFacts {
  const { node, pid, engine, tz, pools } = row;
  return {
    ...{ session: row.id, node, bootId: row.boot_id, pid, engine, tz, pools, isDraining: row.is_draining },
    startedAt: Math.floor(row.started_ms),
    expiresAt: Math.floor(row.expires_ms),
    shards: row.shards.map(([pool, number]) => ({ pool, number })),
  };
}
