/** What a distribution has to say of itself. Each stands in a file of its own, and `table.ts` has a row for each. */
import type { WindowFrame, WindowMode } from "../window.js";
import type { ParameterReader } from "./parameters.js";

/** From a draw to `x` before clamping: it may touch or pass 0 and 1 at the ends, and is never NaN. */
export type Sampler = (u: number) => number;

/** How a parameter is written, for the schema and for readers of texts. What a value means is for `read` to say. */
export type ParameterForm =
  | { readonly form: "number"; readonly description: string; readonly exclusiveMinimum: number }
  | { readonly form: "choice"; readonly choices: readonly string[] }
  | { readonly form: "text"; readonly description: string; readonly examples: readonly string[] };

export interface DistributionKind<D extends { readonly name: string }> {
  readonly name: D["name"];
  readonly parameters: Readonly<Record<string, ParameterForm>>;
  /** Trouble is the reader's to note; what is returned then is not used. `mode` is for defaults. */
  read(parameters: ParameterReader, mode: WindowMode): D;
  /** The parameters as a record states them; `read` reads them back. */
  state(distribution: D): Readonly<Record<string, string | number>>;
  /** The order of its operations is part of the decision contract: golden files hold the results to the last bit. */
  sampler(distribution: D, frame: WindowFrame): Sampler;
}

/**
 * Beyond this a distribution is flat to within 2^-22, less than the grain of the longest window, while its formula
 * would lose digits to cancellation: from here on `x = u`.
 */
export const FLATNESS = 1_048_576; // 2^20

export function identity(u: number): number {
  return u;
}
