/**
 * Which nodes may run a job where several share a store: one that it names, those of a pool, or any. It is no part of a
 * decision: wherever a job runs, it runs at the same instants (S49).
 */
import type { Problem } from "../base/problem.js";
import { quote } from "./issues.js";
import { ANY_POOL, isClusterName, NAME_RULE, nodeOfPool, poolOfNode } from "./pool.js";
import type { PartialRawJob } from "./shape.js";

/** null: any node. `job` has defaults merged in. */
export function readPool({ node, pool }: PartialRawJob, problems: Problem[]): string | null {
  if (node !== undefined && pool !== undefined) {
    const hint = "a node is a pool of its own: write one of the two";
    problems.push({ code: "field-conflict", message: "node and pool do not go together", path: ["pool"], hint });
  }
  if (node !== undefined) return isSound(node, "node", problems) ? poolOfNode(node) : null;
  if (pool === undefined || pool === ANY_POOL) return null;
  return isSound(pool, "pool", problems) ? pool : null;
}

function isSound(name: string, field: "node" | "pool", problems: Problem[]): boolean {
  if (isClusterName(name)) return true;
  const node = field === "pool" ? nodeOfPool(name) : null;
  const hint = node === null ? NAME_RULE : `write node: ${node}`;
  problems.push({ code: "field-range", message: `${quote(name)} is no name of a ${field}`, path: [field], hint });
  return false;
}

/** As it is written in a job. */
export function poolToRaw(pool: string | undefined): Pick<PartialRawJob, "node" | "pool"> {
  if (pool === undefined) return {};
  const node = nodeOfPool(pool);
  return node === null ? { pool } : { node };
}
