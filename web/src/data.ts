/** What the page asks, and what it is told while it is open. */
import { signal } from "@preact/signals";
import { pageHeaders, session } from "./session.js";
import { follow } from "./stream.js";
import { nowMs } from "./time.js";

const API = "/api/v1";
const KEPT_TENANT = "kron-tenant";

/** For whom whoever runs the daemon asks for endpoints; empty: for those who need no other. */
export const tenant = signal(sessionStorage.getItem(KEPT_TENANT) ?? "");

export function speakFor(name: string): void {
  sessionStorage.setItem(KEPT_TENANT, name);
  tenant.value = name;
}

/** Why something was refused, as the daemon says it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

/** A page of many endpoints asks of each of them, which is more at once than a key may: what is only looked at is asked for again. */
const MOST_TRIES = 5;
const LATER_MS = 1_000;

/** What is below `/web/` belongs to the page itself; everything else is the API's. */
export function get<T>(path: string): Promise<T> {
  return asked("GET", path);
}

export function send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T> {
  return asked(method, path, body);
}

async function asked<T>(method: string, path: string, body?: unknown, tries = 1): Promise<T> {
  const type: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const of: Record<string, string> =
    tenant.value === "" || session.value?.tenant != null ? {} : { "Kron-Tenant": tenant.value };
  const answer = await fetch(path.startsWith("/web/") ? path : API + path, {
    method,
    headers: { ...pageHeaders(), ...type, ...of },
    ...sent,
  });
  if (answer.status === 204) return null as T;
  const told: unknown = await answer.json();
  if (answer.ok) return told as T;
  if (answer.status === 401) session.value = null;
  if (answer.status === 429 && method === "GET" && tries < MOST_TRIES) {
    const afterMs = Number(answer.headers.get("Retry-After") ?? 0) * LATER_MS;
    await new Promise((resolve) => setTimeout(resolve, Math.max(LATER_MS, afterMs)));
    return asked(method, path, body, tries + 1);
  }
  const { detail = `refused (${answer.status})`, hint } = told as { readonly detail?: string; readonly hint?: string };
  throw new Refusal(answer.status, detail, hint ?? null);
}

/** How the daemon is, once a second. */
export interface Tick {
  readonly at: string;
  /** null: the page of a tenant is told nothing of it. */
  readonly daemon: DaemonNow | null;
}

export interface DaemonNow {
  readonly jobs: number;
  readonly active: number;
  readonly armed: number;
  readonly nextDueAt: string | null;
  readonly pulse: Pulse;
}

/** How it goes; starts and lateness over the last minute. */
export interface Pulse {
  readonly started: number;
  /** null: nothing was started. */
  readonly latenessMs: number | null;
  readonly loopMs: number;
  /** null: nothing was written. */
  readonly commitMs: number | null;
  readonly memoryMb: number;
}

/** What has become different; null: too much to name it. */
export type Changed = readonly string[] | null;

/** null: nothing was told yet, or is not told at all. */
export const daemon = signal<DaemonNow | null>(null);
/** The last ten minutes that this page was there. */
export const pulses = signal<readonly Pulse[]>([]);
const KEPT_PULSES = 600;
export const isLive = signal(false);
/** Every bunch is another object, so that whoever watches is told of each. */
export const changed = signal<{ readonly identities: Changed }>({ identities: [] });

/** What the daemon's clock is ahead of the browser's. */
let clockSkewMs = 0;
const SECOND_MS = 1_000;
setInterval(() => {
  if (document.visibilityState === "visible") nowMs.value = Date.now() + clockSkewMs;
}, SECOND_MS);

let stop: (() => void) | null = null;

/** One stream for everything, closed while nobody looks: a browser gives a host six connections in all. */
export function tune(): void {
  if (document.visibilityState === "hidden" || !session.value) {
    stop?.();
    stop = null;
    isLive.value = false;
    return;
  }
  stop ??= follow({
    url: "/web/feed",
    headers: pageHeaders,
    listeners: {
      tick: (data) => {
        const told = data as Tick;
        daemon.value = told.daemon;
        if (told.daemon !== null) pulses.value = [...pulses.value, told.daemon.pulse].slice(-KEPT_PULSES);
        clockSkewMs = Date.parse(told.at) - Date.now();
      },
      changed: (data) => {
        changed.value = data as { identities: Changed };
      },
    },
    onLive: (live) => {
      // What was missed meanwhile is asked for.
      if (live && !isLive.value) changed.value = { identities: null };
      isLive.value = live;
    },
    onRefused: () => {
      session.value = null;
    },
  });
}
