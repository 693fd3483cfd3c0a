/**
 * What is asked of an operation as people write it, made what the operation takes, and its answer made what people read: the
 * same over HTTP and over MCP, cursors of pages too.
 */
import type { z } from "zod";
import type { Operation } from "../../operations/operation.js";
import { type CursorSeal, wrongCursor } from "../http/cursor.js";
import { inputProblem } from "./issues.js";
import type { Told } from "./told.js";
import { IN_WORDS } from "./words.js";

export type Fields = Readonly<Record<string, unknown>>;

/** How an operation is written and told. */
export interface Form {
  readonly operation: Operation;
  /** Everything that is taken, wherever it stands. */
  readonly taken: z.ZodObject;
  readonly told: Told;
}

export interface Asked {
  readonly taken: Fields;
  /** Whose cursors these are. */
  readonly owner: string;
  /** What gives them out. */
  readonly cursors: CursorSeal;
}

/** null: the host. */
export function ownerOf(tenant: string | null): string {
  return tenant === null ? "host" : `tenant:${tenant}`;
}

export function readTaken({ taken }: Form, fields: Fields): Fields {
  const read = taken.safeParse(fields, IN_WORDS);
  if (!read.success) throw inputProblem(read.error.issues, taken);
  return read.data;
}

/** An operation's own input, which its own schema has the last word on. */
export function inputOf(operation: Operation, asked: Asked): unknown {
  const { form, isPaged } = operation.http;
  const placed = openedFields(operation, asked);
  const input = operation.input.safeParse(form === undefined ? placed : form.toInput(placed), IN_WORDS);
  if (input.success) return input.data;
  const isOfCursor = isPaged === true && input.error.issues.some(({ path }) => !(String(path[0]) in asked.taken));
  throw isOfCursor ? wrongCursor("it was not given out here") : inputProblem(input.error.issues, operation.input);
}

export function toldAnswer({ operation, told }: Form, found: unknown, asked: Asked): unknown {
  const { form, isPaged } = operation.http;
  const formed = form?.toAnswer === undefined ? found : form.toAnswer(found, openedFields(operation, asked));
  const spelled = told.tell === null ? formed : told.tell(formed);
  if (isPaged !== true) return spelled;
  const page = spelled as { readonly next: string | null };
  return { ...page, next: page.next === null ? null : asked.cursors.seal(page.next, questionOf(operation, asked)) };
}

function openedFields(operation: Operation, asked: Asked): Fields {
  const { taken } = asked;
  return operation.http.isPaged === true ? { ...taken, cursor: positionOf(operation, asked) } : taken;
}

/** null: from the beginning. */
function positionOf(operation: Operation, asked: Asked): string | null {
  const { cursor } = asked.taken;
  return typeof cursor === "string" ? asked.cursors.open(cursor, questionOf(operation, asked)) : null;
}

/** How many rows a page has may change on the way. */
function questionOf({ name }: Operation, { taken, owner }: Asked): unknown {
  const { cursor: _cursor, limit: _limit, ...rest } = taken;
  return [name, owner, rest];
}
