/**
 * Which addresses a request may go to. Judged on bytes, never on texts: an address has many spellings, and those that hold
 * another address inside are judged by what they hold, or refused. Pure: names are looked up elsewhere.
 */

/** Four bytes, or sixteen. */
type AddressBytes = readonly number[];

export interface AddressRange {
  readonly bytes: AddressBytes;
  readonly bits: number;
}

export interface AddressPolicy {
  /** Loopback, private and link-local networks too. */
  readonly allowPrivate: boolean;
  /** Whatever they are: addresses and networks that were named. */
  readonly allow: readonly AddressRange[];
}

export const PUBLIC_ONLY: AddressPolicy = Object.freeze({ allowPrivate: false, allow: Object.freeze([]) });

/** `metadata`: where clouds hand out credentials to whoever asks from inside. */
export type AddressKind = "public" | "private" | "metadata" | "unusable";

const V4_BYTES = 4;
const V6_BYTES = 16;

const METADATA = ranges("169.254.169.254", "192.0.0.192", "100.100.100.200", "fd00:ec2::254");

const PRIVATE = ranges(
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "169.254.0.0/16",
  // Shared by customers of one carrier.
  "100.64.0.0/10",
  "198.18.0.0/15",
  "::1",
  "fc00::/7",
  "fe80::/10",
);

/** No address of anybody, of many at once, or one that leads somewhere else than it says. */
const UNUSABLE = ranges(
  "0.0.0.0/8",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.175.48.0/24",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
);
/** Everything else of IPv6 is reserved, or holds an IPv4 address behind a translator. */
const [GLOBAL_V6] = ranges("2000::/3");
const [MAPPED_V4] = ranges("::ffff:0:0/96");

export function kindOfAddress(address: AddressBytes): AddressKind {
  const bytes = unmapped(address);
  const isIn = (range: AddressRange): boolean => isInRange(bytes, range);
  if (METADATA.some(isIn)) return "metadata";
  if (PRIVATE.some(isIn)) return "private";
  if (UNUSABLE.some(isIn)) return "unusable";
  if (bytes.length === V6_BYTES && GLOBAL_V6 !== undefined && !isIn(GLOBAL_V6)) return "unusable";
  return "public";
}

export function isAllowed(address: AddressBytes, { allowPrivate, allow }: AddressPolicy): boolean {
  const bytes = unmapped(address);
  const kind = kindOfAddress(bytes);
  if (kind === "public" || (kind === "private" && allowPrivate)) return true;
  // A network that was named does not give away what it happens to hold.
  const named = kind === "metadata" ? allow.filter(isSingle) : allow;
  return named.some((range) => isInRange(bytes, range));
}

/** null: it is none. Only the plain spellings; `new URL` makes them of all others. */
export function parseAddress(text: string): AddressBytes | null {
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

/** An address, or a network like 10.0.0.0/8; null when it is neither. */
export function parseRange(text: string): AddressRange | null {
  const [address = "", length, ...more] = text.split("/");
  const bytes = parseAddress(address);
  if (bytes === null || more.length > 0) return null;
  const most = bytes.length * 8;
  if (length === undefined) return { bytes, bits: most };
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  return bits <= most ? { bytes, bits } : null;
}

export function formatRange({ bytes, bits }: AddressRange): string {
  const address = bytes.length === V4_BYTES ? bytes.join(".") : v6Text(bytes);
  return bits === bytes.length * 8 ? address : `${address}/${bits}`;
}

/** The address that stands in a URL; null: a name does. */
export function literalAddressOf(url: URL): AddressBytes | null {
  return parseAddress(url.hostname.replace(/^\[|\]$/g, ""));
}

/** RFC 6761: this machine, wherever it is looked up. */
export function isLocalName(hostname: string): boolean {
  return /^(?:.*\.)?localhost\.?$/i.test(hostname);
}

export function unmapped(bytes: AddressBytes): AddressBytes {
  const isMapped = bytes.length === V6_BYTES && MAPPED_V4 !== undefined && isInRange(bytes, MAPPED_V4);
  return isMapped ? bytes.slice(V6_BYTES - V4_BYTES) : bytes;
}

function isSingle({ bytes, bits }: AddressRange): boolean {
  return bits === bytes.length * 8;
}

function isInRange(bytes: AddressBytes, range: AddressRange): boolean {
  if (bytes.length !== range.bytes.length) return false;
  let left = range.bits;
  for (let index = 0; left > 0; index++, left -= 8) {
    const shift = Math.max(0, 8 - left);
    if ((bytes[index] ?? 0) >> shift !== (range.bytes[index] ?? 0) >> shift) return false;
  }
  return true;
}

function parseV4(text: string): AddressBytes | null {
  const parts = text.split(".");
  if (parts.length !== V4_BYTES || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

function parseV6(text: string): AddressBytes | null {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const v4 = tail === null ? null : parseV4(tail[2] ?? "");
  if (tail !== null && v4 === null) return null;
  const [a = 0, b = 0, c = 0, d = 0] = v4 ?? [];
  const plain = tail === null ? text : `${tail[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const halves = plain.split("::");
  if (halves.length > 2) return null;
  const [front, back] = [groupsOf(halves[0] ?? ""), groupsOf(halves[1] ?? "")];
  if (front === null || back === null) return null;
  const missing = V6_BYTES / 2 - front.length - back.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  return [...front, ...Array.from({ length: missing }, () => 0), ...back].flatMap((group) => [group >> 8, group & 255]);
}

function groupsOf(text: string): number[] | null {
  if (text === "") return [];
  const parts = text.split(":");
  return parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part)) ? parts.map((part) => Number.parseInt(part, 16)) : null;
}

function v6Text(bytes: AddressBytes): string {
  const groups = Array.from({ length: V6_BYTES / 2 }, (_, index) => {
    return (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16);
  });
  return groups.join(":");
}

function ranges(...texts: string[]): readonly AddressRange[] {
  return texts.map((text) => {
    const range = parseRange(text);
    if (range === null) throw new Error(`invariant broken: ${text} is no range`);
    return range;
  });
}
