/** Who is told of what becomes of endpoints: judged as it is written, and then sealed. */
import { isSealed } from "../../actors/dispatcher/seal.js";
import { LIMITS } from "../../core/base/limits.js";
import { problemAt } from "../../core/base/problem.js";
import type { KeptNotify, NotifyWish } from "../../core/endpoint/notify.js";
import { definitionOf, ENDPOINT_SPEC } from "../../core/endpoint/spec.js";
import { literalAddressProblems } from "../../core/job/http-address.js";
import type { Acting } from "../ports.js";
import { refusedFor, sealed, sealedText } from "./change.js";

type Path = readonly (string | number)[];

/** What is secret of a rule stays with its address: nobody is sent the secret of somebody else. */
export function sealedNotify(
  ports: Acting,
  wished: readonly NotifyWish[],
  before: readonly KeptNotify[],
): readonly KeptNotify[] {
  const left = [...before];
  const rules = wished.map(({ signingSecret, secretHeaders, ...rule }, index) => {
    const place = ["notify", index] as const;
    mustNotBeSealed(rule.headers, [...place, "headers"]);
    // Of several for one address each goes by its own, in their order.
    const at = left.findIndex(({ url }) => url === rule.url);
    const [known] = at === -1 ? [] : left.splice(at, 1);
    const signing = signingSecret === null ? keptSigning(known, place) : sealedOrNone(ports, signingSecret);
    return {
      ...rule,
      secretHeaders: sealed(ports, secretHeaders, known?.secretHeaders, place),
      ...(signing === undefined ? {} : { signingSecret: signing }),
    };
  });
  mustBeShort(rules);
  return rules;
}

/** Each message has it on record where it goes, and each endpoint whom its job tells. */
function mustBeShort(rules: readonly KeptNotify[]): void {
  const most = LIMITS.endpointNotifyBytes;
  if (Buffer.byteLength(JSON.stringify(rules)) <= most) return;
  const message = `altogether, with what is sealed, it takes more than ${most} bytes`;
  throw refusedFor([{ code: "limit-exceeded", message, path: ["notify"] }]);
}

/** Of a job: judged by itself, for it may have no endpoint yet. */
export function keptNotify(
  ports: Acting,
  wished: readonly NotifyWish[],
  before: readonly KeptNotify[] = [],
): JobNotify {
  const rules = sealedNotify(ports, wished, before);
  const read = definitionOf(NOBODYS, { identity: NOBODYS_IDENTITY, isHeld: false, notify: rules });
  if (!read.ok) throw refusedFor(read.error);
  const [problem] = literalAddressProblems(read.value, ports.addresses());
  if (problem !== undefined) throw refusedFor([{ ...problem, path: ["notify", problem.path[1] ?? 0, "url"] }]);
  return [...rules];
}

type JobNotify = KeptNotify[];

const NOBODYS = ENDPOINT_SPEC.parse({ name: "-", url: "https://localhost.invalid/", baselineIntervalMs: 60_000 });
const NOBODYS_IDENTITY = `endpoint:default/job_${"0".repeat(16)}/ep_${"0".repeat(16)}`;

/** Of an endpoint that is nobody's: what is secret is judged as a header, and kept by nobody. */
export function unsavedNotify(wished: readonly NotifyWish[]): readonly NotifyWish[] {
  return wished.map(({ signingSecret: _, secretHeaders, ...rule }) => {
    const values = Object.entries(secretHeaders).map(([header, value]) => [header, value ?? ""] as const);
    return { ...rule, headers: { ...rule.headers, ...Object.fromEntries(values) }, secretHeaders: {} };
  });
}

/** Whatever begins so would be opened when it is sent. */
export function mustNotBeSealed(headers: Readonly<Record<string, string>>, place: Path): void {
  for (const [header, value] of Object.entries(headers)) {
    if (!isSealed(value)) continue;
    const message = "a value of a header cannot begin so";
    const hint = "put it into secretHeaders";
    throw refusedFor([problemAt({ code: "field-range", message, path: [header], hint }, ...place)]);
  }
}

function keptSigning(known: KeptNotify | undefined, place: Path): string {
  if (known?.signingSecret !== undefined) return known.signingSecret;
  const message = "there is no secret of before that could be kept";
  throw refusedFor([problemAt({ code: "field-missing", message, path: ["signingSecret"] }, ...place)]);
}

function sealedOrNone(ports: Acting, secret: string | undefined): string | undefined {
  return secret === undefined ? undefined : sealedText(ports, secret);
}
