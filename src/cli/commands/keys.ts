/** `kron keys`, and `krond keys`: over the control socket, which is its owner's alone. */
import { formatSecond } from "../../core/time/instant.js";
import { parseSpan } from "../../core/time/span.js";
import type { KeyAnswer, KeysAnswer, NewKeyAnswer } from "../../operations/keys/keys.js";
import { countArg, type ParsedArgs } from "../args.js";
import { askDaemon, withDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { SCOPES } from "../key-words.js";
import { oneOf } from "../listen-address.js";
import { momentArg } from "../moments.js";
import { printValue } from "../output.js";
import { paintFor, renderTable } from "../style.js";
import { only, runVerb, type VerbRun } from "../verbs.js";
import { KEYS_VERBS } from "./specs/keys.js";

const PAGE = 200;
const MOST_REQUESTS = 10_000;
const HEADER = ["ID", "NAME", "TENANT", "SCOPE", "STANDING", "EXPIRES", "LAST USED"];

const create: VerbRun = async (rest, args, io) => {
  if (rest.length > 0) throw usageError("create takes no arguments", "kron keys create --scope read");
  const scope = oneOf(args, "scope", SCOPES);
  if (scope === undefined) throw usageError("create needs --scope", `one of ${SCOPES.join(", ")}`);
  const perSecond = args.text("rate") === undefined ? null : countArg(args, "rate", 0, MOST_REQUESTS);
  const made = (await askDaemon(args, io, {
    op: "keys.create",
    scope,
    tenant: args.text("tenant") ?? null,
    name: args.text("name") ?? "",
    expiresAt: (await momentArg(args, "expires", io)) ?? null,
    rate: perSecond === null ? null : { perSecond, burst: 2 * perSecond },
    dryRun: args.has("dry-run"),
  })) as NewKeyAnswer;
  return showNew(made, args, io);
};

const list: VerbRun = async (rest, args, io) => {
  if (rest.length > 0) throw usageError("list takes no arguments", "kron keys list");
  const rows = await withDaemon(args, io, async (client) => {
    const all: KeyAnswer[] = [];
    for (let cursor: string | null = null; ; ) {
      const page = (await client.ask({ op: "keys.list", cursor, limit: PAGE })) as KeysAnswer;
      all.push(...page.rows);
      if (page.next === null) return all;
      cursor = page.next;
    }
  });
  const cells = rows.map((row) => [
    row.id,
    row.name,
    row.tenant ?? "-",
    row.scope,
    row.standing,
    timeOf(row.expiresAt) ?? "-",
    timeOf(row.lastUsedAt) ?? "-",
  ]);
  const text = (): string =>
    renderTable(
      HEADER,
      cells,
      HEADER.map(() => "left" as const),
      paintFor(args, io),
    );
  await printValue(rows.map(shown), text, args, io);
  return EXIT.ok;
};

const rotate: VerbRun = async (rest, args, io) => {
  const id = only(rest, "keys rotate ID");
  const graceMs = graceOf(args);
  const made = (await askDaemon(args, io, {
    op: "keys.rotate",
    id,
    ...graceMs,
    dryRun: args.has("dry-run"),
  })) as NewKeyAnswer;
  return showNew(made, args, io);
};

const revoke: VerbRun = async (rest, args, io) => {
  const request = { op: "keys.revoke", id: only(rest, "keys revoke ID"), dryRun: args.has("dry-run") } as const;
  const revoked = (await askDaemon(args, io, request)) as KeyAnswer;
  const done = revoked.dryRun === true ? "would be revoked; nothing was done" : "is revoked";
  await printValue(shown(revoked), () => `${revoked.id} ${done}\n`, args, io);
  return EXIT.ok;
};

export function run(args: ParsedArgs, io: CliIo): Promise<number> {
  return runVerb(KEYS_VERBS, { create, list, rotate, revoke }, args, io);
}

/** The key goes to standard output by itself, so that it can be caught; what there is to say about it does not. */
async function showNew(made: NewKeyAnswer, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (made.dryRun === true) {
    await printValue(shown(made), () => "a key would be made; nothing was done\n", args, io);
    return EXIT.ok;
  }
  await printValue({ ...shown(made), key: made.key }, () => `${made.key}\n`, args, io);
  const whose = made.tenant === null ? "the host" : `tenant ${made.tenant}`;
  await io.err(`key ${made.id} of ${whose}, scope ${made.scope}: it is shown this once\n`);
  return EXIT.ok;
}

function shown(row: KeyAnswer): Record<string, unknown> {
  const { id, name, tenant, scope, standing, rate } = row;
  return {
    ...{ id, name, tenant, scope, standing },
    rate: rate === null ? null : { per_second: rate.perSecond, burst: rate.burst },
    created_at: timeOf(row.createdAt),
    expires_at: timeOf(row.expiresAt),
    revoked_at: timeOf(row.revokedAt),
    last_used_at: timeOf(row.lastUsedAt),
    rotated_to: row.rotatedTo,
    ...(row.dryRun === undefined ? {} : { dry_run: row.dryRun }),
  };
}

function graceOf(args: ParsedArgs): { readonly graceMs?: number } {
  const text = args.text("grace");
  if (text === undefined) return {};
  const span = parseSpan(text);
  if (span.ok) return { graceMs: span.value };
  throw usageError(`--grace: ${span.error.message}`, span.error.hint);
}

function timeOf(at: number | null): string | null {
  return at === null ? null : formatSecond(at);
}
