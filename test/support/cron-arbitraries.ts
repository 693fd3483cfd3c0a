import fc from "fast-check";

/** Expressions from the grammar of the `kron` dialect: well-formed, sometimes impossible (S4) or with too large a step. */
function value(min: number, max: number): fc.Arbitrary<string> {
  return fc.integer({ min, max }).map(String);
}

function element(min: number, max: number, names: readonly string[]): fc.Arbitrary<string> {
  const single = names.length === 0 ? value(min, max) : fc.oneof(value(min, max), fc.constantFrom(...names));
  const bounds = fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
  const range = bounds.map(([from, to]) => `${from}-${to}`);
  const stepped = fc.tuple(bounds, fc.nat({ max: 30 })).map(([[from = min, to = max], n]) => {
    return `${from}-${to}/${1 + (n % Math.max(1, to - from))}`;
  });
  const star = fc.integer({ min: 1, max: max - min }).map((step) => `*/${step}`);
  return fc.oneof({ weight: 4, arbitrary: single }, { weight: 2, arbitrary: range }, stepped, star);
}

function field(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const list = fc.array(element(min, max, names), { minLength: 1, maxLength: 4 }).map((elements) => elements.join(","));
  return fc.oneof({ weight: 2, arbitrary: fc.constant("*") }, { weight: 3, arbitrary: list });
}

/** A field in which days that are named in relation to a month stand beside others, or alone. */
function dayField(
  min: number,
  max: number,
  names: readonly string[],
  special: readonly string[],
): fc.Arbitrary<string> {
  const specials = fc.array(fc.constantFrom(...special), { minLength: 1, maxLength: 3 }).map((days) => days.join(","));
  const plain = field(min, max, names);
  const both = fc.tuple(plain, specials).map(([days, more]) => `${days},${more}`);
  return fc.oneof({ weight: 3, arbitrary: plain }, specials, both);
}

const NTH_WEEKDAYS = ["MON#2", "fri#L", "0#5", "7#l", "Sat#1", "3#4"];
const MONTHS = ["jan", "FEB", "Mar", "apr", "DEC"];
const WEEKDAYS = ["sun", "MON", "Wed", "SAT"];

export const cronExpression: fc.Arbitrary<string> = fc
  .tuple(
    field(0, 59),
    field(0, 23),
    dayField(1, 31, [], ["L"]),
    field(1, 12, MONTHS),
    dayField(0, 6, WEEKDAYS, NTH_WEEKDAYS),
  )
  .map((fields) => fields.join(" "));

function posixElement(min: number, max: number): fc.Arbitrary<string> {
  const range = fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  return fc.oneof(
    value(min, max),
    value(min, max).map((digits) => `0${digits}`),
    range,
  );
}

function posixField(min: number, max: number): fc.Arbitrary<string> {
  const list = fc.array(posixElement(min, max), { minLength: 1, maxLength: 5 }).map((elements) => elements.join(","));
  return fc.oneof(fc.constant("*"), list);
}

const blanks = fc.array(fc.constantFrom(" ", "\t"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));

/** Expressions from the posix grammar, every one of them valid. */
export const posixExpression: fc.Arbitrary<string> = fc
  .tuple(
    posixField(0, 59),
    blanks,
    posixField(0, 23),
    blanks,
    posixField(1, 31),
    blanks,
    posixField(1, 12),
    blanks,
    posixField(0, 6),
  )
  .map((parts) => parts.join(""));

/** Texts made of what expressions are made of, mostly wrong. */
export const cronLikeText: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      ..."0123456789*,-/?LWH#@ \t\n".split(""),
      "mon",
      "SUN",
      "jan",
      "59",
      "60",
      "7",
      "*/",
      "* * * *",
      "@daily",
      "\u00a0",
      "５",
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));
