/** The names of nodes, and of the pools of nodes that jobs run in where several share a store. */

/** The pool that every node serves. */
export const ANY_POOL = "any";

const NODE_PREFIX = "node/";
/** Of nodes and pools: they are parts of addresses, tables and file names. */
export const NAME_FORM = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
export const NAME_RULE = "small letters, digits and - _ . are what it is made of, 63 of them at most";

/** The pool that one node alone serves. */
export function poolOfNode(node: string): string {
  return `${NODE_PREFIX}${node}`;
}

/** The node whose own pool it is; null: others may serve it as well. */
export function nodeOfPool(pool: string): string | null {
  return pool.startsWith(NODE_PREFIX) ? pool.slice(NODE_PREFIX.length) : null;
}

/** Whether a node or a pool can be called so. */
export function isClusterName(name: string): boolean {
  return NAME_FORM.test(name);
}
