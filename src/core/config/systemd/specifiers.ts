/** `%n` and its like, as far as they do not depend on the machine or the boot. */
import { err, ok, type Result } from "../../base/result.js";

export interface SpecifierPlace {
  /** `dump@main.service` */
  readonly unit: string;
  /** Units of a user's own manager: their directories are the user's. */
  readonly isUser: boolean;
}

type Expander = (place: SpecifierPlace) => string | null;

const SPECIFIERS: Readonly<Record<string, Expander>> = {
  "%": () => "%",
  n: ({ unit }) => unit,
  N: ({ unit }) => withoutType(unit),
  p: ({ unit }) => withoutType(unit).split("@")[0] ?? "",
  i: ({ unit }) => instanceOf(unit),
  I: ({ unit }) => unescaped(instanceOf(unit)),
  j: ({ unit }) => (withoutType(unit).split("@")[0] ?? "").split("-").at(-1) ?? "",
  E: forSystem("/etc"),
  t: forSystem("/run"),
  S: forSystem("/var/lib"),
  C: forSystem("/var/cache"),
  L: forSystem("/var/log"),
  T: () => "/tmp",
  V: () => "/var/tmp",
  h: forSystem("/root"),
  s: forSystem("/bin/sh"),
  u: forSystem("root"),
  U: forSystem("0"),
  g: forSystem("root"),
  G: forSystem("0"),
};

/** The text with its specifiers filled in, or the one that cannot be. */
export function expandSpecifiers(text: string, place: SpecifierPlace): Result<string, string> {
  let unknown: string | null = null;
  const expanded = text.replace(/%(.?)/gs, (written, letter: string) => {
    const value = Object.hasOwn(SPECIFIERS, letter) ? (SPECIFIERS[letter]?.(place) ?? null) : null;
    if (value === null) unknown ??= written;
    return value ?? written;
  });
  if (unknown === null) return ok(expanded);
  const why = unknown === "%" ? "a % is written %%" : `${unknown} stands for something that only systemd knows`;
  return err(`${why}: write its value`);
}

function forSystem(value: string): Expander {
  return ({ isUser }) => (isUser ? null : value);
}

function withoutType(unit: string): string {
  return unit.slice(0, unit.lastIndexOf("."));
}

function instanceOf(unit: string): string {
  const name = withoutType(unit);
  const at = name.indexOf("@");
  return at < 0 ? "" : name.slice(at + 1);
}

/** As systemd-escape --unescape: `-` for `/`, `\x2d` for `-`. */
function unescaped(instance: string): string {
  const hex = (_: string, digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));
  return instance.replaceAll("-", "/").replace(/\\x([0-9a-f]{2})/gi, hex);
}
