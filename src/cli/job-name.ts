/** A job in a table: one of a crontab is called by a hash, and what its line runs stands beside it. */
import type { Cell } from "./table.js";

export interface NamedJob {
  readonly identity: string;
  readonly called?: string | undefined;
}

/** The identity is what every command takes; where there is room for one of them only, the name says more. */
export function nameCell({ identity, called }: NamedJob): Cell {
  return called === undefined ? { text: identity } : { text: `${identity}  ${called}`, short: called };
}
