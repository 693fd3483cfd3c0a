/** Frames as the page takes them: from the daemon, or from a file that may hold anything. */

export interface ToldEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Snapshot {
  readonly status?: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly error?: unknown;
}

interface About {
  readonly sessionId: string;
  /** Epoch milliseconds, as text. */
  readonly createdAt: string;
}

export interface ActorTold extends About {
  readonly type: "@xstate.actor";
  readonly name?: string;
  readonly parentId?: string;
  /** The chart as JSON text, or no more than its name. */
  readonly definition?: string;
  readonly snapshot?: Snapshot;
}

export interface EventTold extends About {
  readonly type: "@xstate.event";
  readonly event: ToldEvent;
  readonly sourceId?: string;
}

export interface SnapshotTold extends About {
  readonly type: "@xstate.snapshot";
  readonly event?: ToldEvent;
  readonly snapshot: Snapshot;
}

export type Told = ActorTold | EventTold | SnapshotTold;

const MOST_NAME_CHARS = 2_000;

type Fields = Readonly<Record<string, unknown>>;

/** The frame, or what is wrong with it. */
export function toldIn(value: unknown): Told | string {
  if (!isFields(value)) return "this is no object";
  const { type, sessionId, createdAt } = value;
  if (typeof sessionId !== "string" || sessionId === "") return "sessionId: it names no actor";
  if (sessionId.length > MOST_NAME_CHARS) return `sessionId: longer than ${MOST_NAME_CHARS} characters`;
  if (!/^\d{1,16}$/.test(String(createdAt))) return "createdAt: it is no time in milliseconds";
  for (const name of ["name", "parentId", "sourceId", "definition"]) {
    if (value[name] !== undefined && value[name] !== null && typeof value[name] !== "string")
      return `${name}: it is no text`;
  }
  const wrong = wrongIn(type, value);
  if (wrong !== null) return wrong;
  return withoutNulls({ ...value, createdAt: String(createdAt) }) as unknown as Told;
}

function wrongIn(type: unknown, { event, snapshot }: Fields): string | null {
  const isEvent = isFields(event) && typeof event["type"] === "string";
  switch (type) {
    case "@xstate.actor":
      return snapshot === undefined || isFields(snapshot) ? null : "snapshot: it is no object";
    case "@xstate.event":
      return isEvent ? null : "event: it has no type";
    case "@xstate.snapshot":
      if (event !== undefined && !isEvent) return "event: it has no type";
      return isFields(snapshot) ? null : "snapshot: it is no object";
    default:
      return "type: it is none of @xstate.actor, @xstate.event and @xstate.snapshot";
  }
}

/** Some write null where others leave out. */
function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function timeOf({ createdAt }: About): number {
  return Number(createdAt);
}
