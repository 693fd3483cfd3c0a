/** What a server or the way to it says when something is wrong, and what that means for whoever has asked (C21). */
import { KronError } from "../../core/base/errors/kron-error.js";
import { messageOf } from "../../core/base/errors/message.js";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import { storeError } from "../failures.js";
import type { PostgresAddress } from "./address.js";

const SQL_STATE = /^[0-9A-Z]{5}$/;

/** The five letters of an answer of the server; "" where there was none. */
function sqlState(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return SQL_STATE.test(code) && !code.startsWith("E") ? code : "";
}

/** Classes after which the connection is of no more use: lost, shut down, out of resources, of another opinion. */
const BROKEN = /^(08|57P|53|58|XX)/;

/** A statement that was refused; the connection is as good as before. */
export function isOfServer(error: unknown): boolean {
  const state = sqlState(error);
  return state !== "" && !BROKEN.test(state);
}

/** What has become of a commit that was sent. */
type Verdict =
  /** It was carried out before: a commit of this number is on record. */
  | "applied"
  /** A record that it claims is there. */
  | "claimed"
  /** The session is gone. */
  | "fenced"
  /** Another server has taken over, with a history of its own. */
  | "elsewhere"
  /** The server does not keep what it confirms. */
  | "unsuitable"
  /** Nobody knows, or it was refused for reasons that pass: it may be sent again. */
  | "again"
  /** It cannot be carried out. */
  | "final";

/** Raised by our own functions. */
const STATE_ALREADY_APPLIED = "KR002";
const STATE_OTHER_TIMELINE = "KR003";
const STATE_ASYNCHRONOUS = "KR004";
const STATE_SESSION_GONE = "KR005";

/** Serialisation, deadlock, locks, a cancelled statement, a server that only reads for now. */
const PASSING = /^(40001|40P01|55P03|57014|25006|53|57P|58|08)/;

export function verdictOf(error: unknown): Verdict {
  const state = sqlState(error);
  if (state === "") return "again";
  if (state === STATE_ALREADY_APPLIED) return "applied";
  if (state === STATE_OTHER_TIMELINE) return "elsewhere";
  if (state === STATE_ASYNCHRONOUS) return "unsuitable";
  if (state === "23505") return constraintOf(error) === "once" ? "applied" : "claimed";
  if (state === "23503" || state === STATE_SESSION_GONE) return "fenced";
  return PASSING.test(state) || state.startsWith("28") ? "again" : "final";
}

/** One of two that wanted the same has done nothing: a deadlock, or a session that was begun while the schema became another. */
export function isInTheWay(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40P01" || (state === "23505" && constraintOf(error) === "session_node_key");
}

/** What was to be read is not there any more. */
export function isNoTable(error: unknown): boolean {
  const cause = error instanceof KronError ? error.cause : error;
  return sqlState(cause) === "42P01";
}

/** That something refers to what is gone; "": nothing is refused for that. */
export function missingReference(error: unknown): string {
  return sqlState(error) === "23503" ? constraintOf(error) : "";
}

function constraintOf(error: unknown): string {
  return error instanceof Error && "constraint" in error ? String(error.constraint) : "";
}

interface Refusal {
  readonly code: ErrorCode;
  readonly what: (address: PostgresAddress) => string;
  readonly hint: (address: PostgresAddress) => string;
}

const PASSWORD: Refusal = {
  code: "store-denied",
  what: ({ user }) => `it does not let "${user}" in`,
  // What follows the word "password" is taken out of a log.
  hint: () => "put the right one into the file of --store-password-file or PGPASSFILE; or look at its pg_hba.conf",
};
const DATABASE: Refusal = {
  code: "store-denied",
  what: ({ database }) => `it has no database "${database}"`,
  hint: ({ database, user }) => `as its superuser: create database "${database}" owner "${user}" encoding utf8`,
};
const RIGHTS: Refusal = {
  code: "store-denied",
  what: ({ user }) => `"${user}" may not do there what is needed`,
  hint: ({ user }) => `as its superuser: create schema kron authorization "${user}"; or: alter schema kron owner to it`,
};
const UNREACHABLE: Refusal = {
  code: "store-unreachable",
  what: () => "it does not answer",
  hint: () => "see that the server runs and takes connections from here, and that the address is right",
};
const FULL: Refusal = {
  code: "store-unreachable",
  what: () => "it takes no more connections or has no more room",
  hint: () => "krond needs four connections, with --node five: raise max_connections, or the rolconnlimit of its role",
};
const NO_TLS: Refusal = {
  code: "store-unsuitable",
  what: () => "it does not speak TLS",
  hint: () => "turn ssl on there; or, where nobody listens in between, write sslmode=disable",
};
const UNTRUSTED: Refusal = {
  code: "store-unsuitable",
  what: ({ host }) => `it cannot prove that it is ${host}`,
  hint: () => "name the authority that signed its certificate: sslrootcert=/path/to/ca.pem",
};
const FILE: Refusal = {
  code: "store-denied",
  what: () => "a file that is needed to get in cannot be read",
  hint: () => "make it readable for the daemon's user, or name another one",
};

const BY_STATE: readonly (readonly [RegExp, Refusal])[] = [
  [/^(28P01|28000)$/, PASSWORD],
  [/^3D000$/, DATABASE],
  [/^42501$/, RIGHTS],
  [/^53/, FULL],
];
const TLS_TROUBLE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/;

function refusalFor(error: unknown): Refusal {
  const state = sqlState(error);
  const message = messageOf(error);
  if (state !== "") return BY_STATE.find(([form]) => form.test(state))?.[1] ?? UNREACHABLE;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/client password must be a string|SASL/.test(message)) return PASSWORD;
  if (message.includes("does not support SSL")) return NO_TLS;
  if (TLS_TROUBLE.test(code)) return UNTRUSTED;
  return error instanceof Error && "path" in error && "syscall" in error && error.syscall === "open"
    ? FILE
    : UNREACHABLE;
}

/** Why a store cannot be used, with the way out of it. */
export function storeRefusal(error: unknown, address: PostgresAddress, operation: string): KronError {
  if (error instanceof KronError) return error;
  const { code, what, hint } = refusalFor(error);
  const { message } = wordsOf(error);
  const said = `the server at ${address.host}:${address.port} cannot keep the state: ${what(address)} (${message})`;
  return storeError(code, operation, said, hint(address));
}

/** Several addresses of one name are tried one after the other: what was wrong with the last says enough. */
function wordsOf(error: unknown): { readonly message: string } {
  const last = error instanceof AggregateError ? error.errors.at(-1) : error;
  return { message: messageOf(last) || "no answer" };
}
