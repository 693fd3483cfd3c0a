/**
 * Who has changed what, and when: one record for each change, durable before whoever asked for it is answered, and bounded by
 * age and count. A change that was refused has changed nothing, and is none.
 */
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { KRON } from "../../core/governor/author.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { ObjectWrite, StateReader } from "../../persist/store.js";
import { OPERATION_LIMITS } from "../limits.js";
import { isRehearsal } from "../rehearsal.js";
import { type AuditRecord, type AuditSubjects, auditOf, auditPlace, placeBefore, SUBJECTS } from "./record.js";

const PAGE = 1_000;
/** Not what is changed, but how it is to be done. */
const MANNERS: ReadonlySet<string> = new Set<string>([...SUBJECTS, "ifMatch", "dryRun", "force"]);

/** What it has to know of an operation. */
interface Audited {
  readonly name: string;
  readonly access: "read" | "operate" | "admin";
  readonly of: "host" | "tenant";
  readonly http: { readonly method: string };
}

/** Who has asked. */
type Author = Pick<AuditRecord, "keyId" | "scope"> & { readonly tenant: string };

interface Change {
  readonly operation: Audited;
  readonly input: unknown;
  readonly answer: unknown;
}

export interface AuditPorts {
  readonly reader: StateReader;
  write(objects: readonly ObjectWrite[]): Promise<void>;
  now(): EpochMs;
}

export class AuditTrail {
  readonly #ports: AuditPorts;
  #count = 0;
  /** Records that may be written before somebody looks again whether there are too many. */
  readonly #spare = new Map<string, number>();

  constructor(ports: AuditPorts) {
    this.#ports = ports;
  }

  /** Nothing of what changes nothing. */
  async note({ operation, input, answer }: Change, { tenant, keyId, scope }: Author): Promise<void> {
    if (operation.access === "read" || operation.http.method === "GET" || isRehearsal(input)) return;
    const of = auditOf(operation.of === "tenant" ? tenant : null);
    const at = this.#ports.now();
    await this.#add(of, {
      ...{ at, operation: operation.name, keyId, scope },
      about: { ...subjectsIn(answer), ...subjectsIn(input) },
      fields: fieldsOf(input).filter((name) => !MANNERS.has(name)),
      version: versionIn(answer),
    });
  }

  /** S51: a job has paused itself. It is on the job's own record before, and here for whoever asks who has held it. */
  async noteStop(identity: string): Promise<void> {
    const name = endpointName(identity);
    const about = name === null ? { identity } : { jobId: name.jobId, endpointId: name.endpointId };
    const operation = name === null ? "pause" : "endpoints.pause";
    const fields = ["pausedUntil", "reason"];
    const record = {
      at: this.#ports.now(),
      operation,
      keyId: KRON,
      scope: "write",
      about,
      fields,
      version: null,
    } as const;
    await this.#add(auditOf(name?.tenant ?? null), record);
  }

  async #add(of: string, record: AuditRecord): Promise<void> {
    const { at } = record;
    await this.#ports.write([{ key: of + auditPlace(at, this.#count++), text: JSON.stringify(record) }]);
    await this.#trim(of, at);
  }

  async #trim(of: string, now: EpochMs): Promise<void> {
    const spare = this.#spare.get(of) ?? 0;
    this.#spare.set(of, spare - 1);
    if (spare > 0) return;
    // Whoever comes meanwhile need not look too.
    this.#spare.set(of, OPERATION_LIMITS.auditSpare);
    const { reader, write } = this.#ports;
    const oldest = of + placeBefore(now - OPERATION_LIMITS.auditMs);
    const last = await placeOf(reader, of, OPERATION_LIMITS.auditRecords);
    const after = last !== null && last < oldest ? last : oldest;
    for (;;) {
      const gone = await reader.objects({ prefix: of, after, limit: PAGE });
      if (gone.length > 0) await write(gone.map(({ key }) => ({ key, text: null })));
      if (gone.length < PAGE) return;
    }
  }
}

/** The name of the record with this number, from the newest on; null: there are not so many. */
async function placeOf(reader: StateReader, prefix: string, number: number): Promise<string | null> {
  let after: string | undefined;
  for (let left = number; left > 0; ) {
    const limit = Math.min(PAGE, left);
    const page = await reader.objects({ prefix, limit, ...(after === undefined ? {} : { after }) });
    after = page.at(-1)?.key;
    if (page.length < limit || after === undefined) return null;
    left -= page.length;
  }
  return after ?? null;
}

function fieldsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [name]));
}

function subjectsIn(value: unknown): AuditSubjects {
  if (typeof value !== "object" || value === null) return {};
  const own = Object.entries(value).filter(([name, field]) => {
    return typeof field === "string" && SUBJECTS.some((subject) => subject === name);
  });
  return Object.fromEntries(own) as AuditSubjects;
}

function versionIn(answer: unknown): number | null {
  const isVersioned = typeof answer === "object" && answer !== null && "version" in answer;
  return isVersioned && typeof answer.version === "number" ? answer.version : null;
}
