/**
 * The ledger lies in one table a month, so that what is too old goes by dropping a table. Each is made long before the first
 * record of its month: while somebody reads all of the ledger none can be made. What has no table of its own then, and what lies
 * outside of the years that anybody plans in, lies together.
 */
import type { EpochMs } from "../../core/time/instant.js";
import type { Queries } from "./connection.js";

const [FIRST_YEAR, LAST_YEAR] = [1990, 2199];
const TRY_EVERY_MS = 3_600_000;

interface Month {
  readonly table: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

function monthOf(at: EpochMs): Month | null {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (!(year >= FIRST_YEAR && year <= LAST_YEAR)) return null;
  const table = `ledger_${year}_${String(month + 1).padStart(2, "0")}`;
  return { table, from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}

const TABLE_FORM = /^ledger_(\d{4})_(\d{2})$/;

function monthOfTable(table: string): Month | null {
  const [, year, month] = TABLE_FORM.exec(table) ?? [];
  return year === undefined ? null : monthOf(Date.UTC(Number(year), Number(month) - 1));
}

export class Months {
  readonly #queries: Queries;
  /** Without it nothing is made or dropped. */
  readonly #session: string;
  readonly #made = new Set<string>();
  /** The month that was needed last: all records of a commit are about one, as a rule. */
  #last: Month = { table: "", from: 0, to: 0 };
  /** Not before is the one after it tried again. */
  #nextTryMs = 0;

  constructor(queries: Queries, session: string) {
    this.#queries = queries;
    this.#session = session;
  }

  /** Those that records about these instants need, and the one after. */
  async make(instants: Iterable<EpochMs>): Promise<void> {
    for (const at of instants) {
      if (at >= this.#last.from && at < this.#last.to) continue;
      const month = monthOf(at);
      if (month === null) continue;
      await this.#make(month);
      // What could not be made is not waited for: its records lie among the others.
      this.#made.add(month.table);
      this.#last = month;
    }
    await this.#makeNext();
  }

  async #makeNext(): Promise<void> {
    const next = monthOf(this.#last.to);
    if (this.#last.table === "" || next === null || this.#made.has(next.table)) return;
    const nowMs = performance.now();
    if (nowMs < this.#nextTryMs) return;
    this.#nextTryMs = nowMs + TRY_EVERY_MS;
    await this.#make(next);
  }

  async #make({ table, from, to }: Month): Promise<void> {
    if (this.#made.has(table)) return;
    const text = "select kron.make_month($1, $2, $3, $4) as is_made";
    const [row] = await this.#queries.rows<{ is_made: boolean }>(text, [this.#session, table, from, to]);
    if (row?.is_made === true) this.#made.add(table);
  }

  /** Tables whose every record is about an instant before this one. */
  async before(at: EpochMs): Promise<readonly string[]> {
    const rows = await this.#queries.rows<{ table: string }>(
      `select c.relname as table from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'kron.ledger'::regclass order by c.relname`,
    );
    const months = rows.flatMap(({ table }) => monthOfTable(table) ?? []);
    return months.filter(({ to }) => to <= at).map(({ table }) => table);
  }

  /** False: not now, because somebody reads all of the ledger. */
  async drop(table: string): Promise<boolean> {
    this.#made.delete(table);
    this.#last = { table: "", from: 0, to: 0 };
    const text = "select kron.drop_month($1, $2) as is_dropped";
    const [row] = await this.#queries.rows<{ is_dropped: boolean }>(text, [this.#session, table]);
    return row?.is_dropped === true;
  }
}
