/** By group, resource and verbs. */
export const RIGHTS: readonly (readonly [group: string, resource: string, verbs: readonly string[]])[];
/** By path under deploy/operator, what should be there. */
export function manifests(): Map<string, string>;
