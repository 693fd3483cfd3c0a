import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AddressKind,
  formatRange,
  isAllowed,
  kindOfAddress,
  PUBLIC_ONLY,
  parseAddress,
  parseRange,
} from "../../../src/core/base/address.js";

function bytesOf(text: string): readonly number[] {
  const bytes = parseAddress(text);
  if (bytes === null) throw new Error(`${text} is no address`);
  return bytes;
}

function rangesOf(...texts: string[]) {
  return texts.flatMap((text) => parseRange(text) ?? []);
}

const KINDS: readonly [address: string, kind: AddressKind][] = [
  ["8.8.8.8", "public"],
  ["1.1.1.1", "public"],
  ["172.15.255.255", "public"],
  ["172.32.0.0", "public"],
  ["100.63.255.255", "public"],
  ["100.128.0.0", "public"],
  ["2606:4700::1111", "public"],
  ["::ffff:8.8.8.8", "public"],
  ["127.0.0.1", "private"],
  ["127.255.255.255", "private"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["169.254.1.1", "private"],
  ["100.64.0.1", "private"],
  ["198.18.0.1", "private"],
  ["::1", "private"],
  ["fe80::1", "private"],
  ["fd12:3456::1", "private"],
  ["::ffff:127.0.0.1", "private"],
  ["::ffff:7f00:1", "private"],
  ["::ffff:10.0.0.1", "private"],
  ["169.254.169.254", "metadata"],
  ["::ffff:169.254.169.254", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["100.100.100.200", "metadata"],
  ["192.0.0.192", "metadata"],
  ["0.0.0.0", "unusable"],
  ["224.0.0.1", "unusable"],
  ["255.255.255.255", "unusable"],
  ["192.0.2.1", "unusable"],
  ["203.0.113.9", "unusable"],
  ["::", "unusable"],
  ["::127.0.0.1", "unusable"],
  ["64:ff9b::7f00:1", "unusable"],
  ["64:ff9b:1::7f00:1", "unusable"],
  ["2002:7f00:1::", "unusable"],
  ["2001::1", "unusable"],
  ["2001:db8::1", "unusable"],
  ["3fff::1", "unusable"],
  ["4000::1", "unusable"],
  ["5f00::1", "unusable"],
  ["fec0::1", "unusable"],
  ["ff02::1", "unusable"],
  ["100::1", "unusable"],
  ["::ffff:0:127.0.0.1", "unusable"],
];

describe("security list: where requests may go, by bytes", () => {
  test.each(KINDS)("%s is %s", (address, kind) => {
    expect(kindOfAddress(bytesOf(address))).toBe(kind);
    expect(isAllowed(bytesOf(address), PUBLIC_ONLY)).toBe(kind === "public");
    expect(isAllowed(bytesOf(address), { allowPrivate: true, allow: [] })).toBe(
      kind === "public" || kind === "private",
    );
  });

  test.each<[allow: string, address: string, isFine: boolean]>([
    ["10.20.0.0/16", "10.20.3.4", true],
    ["10.20.0.0/16", "10.21.0.1", false],
    ["127.0.0.1", "127.0.0.1", true],
    ["127.0.0.1", "::ffff:127.0.0.1", true],
    ["127.0.0.1", "127.0.0.2", false],
    ["169.254.0.0/16", "169.254.169.254", false],
    ["169.254.169.254", "169.254.169.254", true],
    ["0.0.0.0/0", "169.254.169.254", false],
    ["fd00::/8", "fd12::1", true],
    ["::/0", "fd00:ec2::254", false],
  ])("with %s allowed, %s: %s", (allow, address, isFine) => {
    expect(isAllowed(bytesOf(address), { allowPrivate: false, allow: rangesOf(allow) })).toBe(isFine);
  });

  test.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "01.2.3.4",
    "1.2.3.4 ",
    "0x7f.1",
    ":::",
    "1::2::3",
    "12345::",
    "::1%eth0",
    "fe80::1.2.3",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8",
  ])("%j is no address", (text) => {
    expect(parseAddress(text)).toBeNull();
  });

  test.each(["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/a", "10.0.0.0/8/8", "::/129", "example.org"])(
    "%j is no network",
    (text) => {
      expect(parseRange(text)).toBeNull();
    },
  );

  test("whatever is written is read back as the same bytes", () => {
    const octets = fc.oneof(
      fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 }),
      fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 16, maxLength: 16 }),
    );
    fc.assert(
      fc.property(octets, (bytes) => {
        expect(parseAddress(formatRange({ bytes, bits: bytes.length * 8 }))).toEqual(bytes);
      }),
    );
  });

  test("a URL makes plain addresses of all the others", () => {
    const spellings = ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.1.", "127。0。0。1"];
    for (const spelling of spellings) expect(new URL(`http://${spelling}/`).hostname).toMatch(/^127\.0\.0\.1$/);
    expect(new URL("http://[::ffff:127.0.0.1]/").hostname).toBe("[::ffff:7f00:1]");
  });
});
