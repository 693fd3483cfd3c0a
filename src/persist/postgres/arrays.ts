/**
 * Arrays in the form that the server sends and takes itself: without the quotes and escapes of a text, which cost both sides
 * more than everything else about a commit.
 */

export type ElementType = "uuid" | "bigint" | "text";

/** What the server calls its types. */
const OIDS: Readonly<Record<ElementType, number>> = { uuid: 2950, bigint: 20, text: 25 };
const [HEADER_BYTES, DIMENSION_BYTES, LENGTH_BYTES] = [12, 8, 4];
const [UUID_BYTES, BIGINT_BYTES] = [16, 8];
const NULL_LENGTH = -1;

/** What can be in one: 32 digits of a UUID, a whole number, or a text. */
export type Element = string | number | null;

function bytesOf(type: ElementType, value: Element): number {
  if (value === null) return 0;
  if (type === "text") return Buffer.byteLength(String(value));
  return type === "uuid" ? UUID_BYTES : BIGINT_BYTES;
}

function put(buffer: Buffer, at: number, type: ElementType, value: string | number): void {
  if (type === "text") buffer.write(String(value), at, "utf8");
  else if (type === "uuid") buffer.write(String(value), at, UUID_BYTES, "hex");
  else buffer.writeBigInt64BE(BigInt(value), at);
}

/** A parameter that is a buffer is sent as it is. */
export function arrayOf(type: ElementType, values: readonly Element[]): Buffer {
  const lengths = values.map((value) => bytesOf(type, value));
  const content = lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, 0);
  const isEmpty = values.length === 0;
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + (isEmpty ? 0 : DIMENSION_BYTES) + content);
  buffer.writeInt32BE(isEmpty ? 0 : 1, 0);
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  buffer.writeInt32BE(OIDS[type], 8);
  if (isEmpty) return buffer;
  buffer.writeInt32BE(values.length, HEADER_BYTES);
  // Arrays begin with 1 there.
  buffer.writeInt32BE(1, HEADER_BYTES + LENGTH_BYTES);
  let at = HEADER_BYTES + DIMENSION_BYTES;
  for (const [index, value] of values.entries()) {
    const length = lengths[index] ?? 0;
    at = buffer.writeInt32BE(value === null ? NULL_LENGTH : length, at);
    if (value !== null) put(buffer, at, type, value);
    at += length;
  }
  return buffer;
}
