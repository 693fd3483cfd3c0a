import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";

const LOOPBACK = "127.0.0.1";
const LARGEST_PORT = 65_535;

/** `PORT`, `HOST:PORT` or `[HOST]:PORT`; only this machine is answered when no host is given. */
export function listenAddress(
  args: ParsedArgs,
  option: string,
  example: string,
): { readonly host: string; readonly port: number } | null {
  const written = args.text(option);
  if (written === undefined) return null;
  const match = /^(?:(?<host>[^:[\]]+|\[[0-9a-f:.]+\]):)?(?<port>\d{1,5})$/i.exec(written);
  const port = Number(match?.groups?.["port"] ?? Number.NaN);
  if (!(port <= LARGEST_PORT))
    throw usageError(`--${option}: "${written}" is no address`, `write ${example} or 127.0.0.1:${example}`);
  return { host: (match?.groups?.["host"] ?? LOOPBACK).replace(/^\[|\]$/g, ""), port };
}

export function oneOf<T extends string>(args: ParsedArgs, name: string, allowed: readonly T[]): T | undefined {
  const given = args.text(name);
  if (given === undefined) return undefined;
  const found = allowed.find((value) => value === given);
  if (found === undefined) throw usageError(`--${name}: "${given}" is not one of ${allowed.join(", ")}`);
  return found;
}
