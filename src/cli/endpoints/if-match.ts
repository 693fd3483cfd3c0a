/** `--if-match`: what somebody else has changed since is not overwritten. */
import { countArg, type ParsedArgs } from "../args.js";

const MOST_VERSIONS = 999_999_999;

export function ifMatchOf(args: ParsedArgs): { readonly ifMatch?: number } {
  if (args.text("if-match") === undefined) return {};
  return { ifMatch: countArg(args, "if-match", 0, MOST_VERSIONS) };
}
