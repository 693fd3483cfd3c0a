/** What the inspector's page shows, and where it comes from: the daemon's stream, or a file. */
import { batch, computed, signal } from "@preact/signals";
import { pageHeaders } from "../session.js";
import { follow } from "../stream.js";
import { toldIn } from "./frames.js";
import type { Moment } from "./moments.js";
import { Recording } from "./recording.js";
import type { Line } from "./transfer.js";
import { type Actor, familyOf, goneSince, type World } from "./world.js";

export const KINDS = ["supervisor", "job", "period", "execution", "launcher"] as const;

/** How often what has come in is shown; more often nobody can read it. */
const SHOWN_EVERY_MS = 80;
/** So much longer than showing it takes: most of the time is for whoever looks at it. */
const REST = 3;
const LONGEST_SHOW_MS = 100;
/** Resting jobs that are listed: the others are found by their names. */
const RESTING = 200;

const recording = signal(new Recording());
/** Another number whenever something has come in. */
const heard = signal(0);
/** Number of the moment that is looked at; null: what happens now. */
export const cursor = signal<number | null>(null);
export const chosen = signal<string | null>(null);
/** The actor that something happens to is chosen. */
export const follows = signal(true);
export const onlyFamily = signal(false);
export const identity = signal("");
export const hidden = signal<ReadonlySet<string>>(new Set());
export const hidesResting = signal(false);
/** Where frames come from: the daemon, or the file of this name. */
export const source = signal<{ readonly file: string | null; readonly isLive: boolean }>({ file: null, isLive: false });
export const trouble = signal<string | null>(null);
const KEPT_OFF = "kron-inspector-off";
/** Nobody is asked for anything, also after the page was loaded anew. */
export const isOff = signal(sessionStorage.getItem(KEPT_OFF) !== null);

interface View {
  readonly recording: Recording;
  readonly world: World;
  /** null: nothing has happened yet. */
  readonly moment: { readonly number: number; readonly moment: Moment } | null;
}

export const view = computed<View>(() => {
  void heard.value;
  const shown = recording.value;
  const { moments } = shown;
  const number = cursor.value ?? moments.end - 1;
  const moment = moments.at(number) ?? moments.at(moments.first);
  const isNow = cursor.value === null || moment === undefined || moment.end >= shown.end;
  const world = isNow ? shown.tip : shown.worldAfter(moment.end - 1);
  return { recording: shown, world, moment: moment === undefined ? null : { number, moment } };
});

/** Of the actor that is chosen, or that something has happened to. */
export const actor = computed<Actor | null>(() => {
  const { world, moment } = view.value;
  const followed = follows.value && moment !== null ? followedAt(moment.number) : null;
  const name = followed ?? chosen.value ?? "supervisor";
  return world.actors.get(name) ?? world.actors.get("supervisor") ?? world.actors.values().next().value ?? null;
});

/** Moments that are looked back at for an actor that has something to show. */
const LOOKED_BACK = 50;

/** Whom something has happened to last, of those that have a chart; the launcher and the stream itself have none. */
function followedAt(number: number): string | null {
  const { recording: shown, world } = view.value;
  const { moments } = shown;
  const hasChart = (name: string | null): name is string =>
    name !== null && world.actors.get(name)?.now?.snapshot.value !== undefined;
  for (let at = number; at >= Math.max(moments.first, number - LOOKED_BACK); at -= 1) {
    const { sessionId = null, sourceId = null } = moments.at(at) ?? {};
    for (const name of [sessionId, sourceId]) if (hasChart(name)) return name;
  }
  return null;
}

/** Whether a moment is among those that are looked at. */
export function isWanted(moment: Moment, world: World, family: string | null): boolean {
  if (hidden.value.has(moment.kind)) return false;
  return family === null || moment.family === family || familyOf(world, moment.sourceId ?? "") === family;
}

/** The family that is looked at alone; null: all. */
export const family = computed<string | null>(() => {
  const { world } = view.value;
  return onlyFamily.value && actor.value !== null ? familyOf(world, actor.value.sessionId) : null;
});

/** Numbers of the wanted moments around one, the oldest first. */
export function wantedAround(
  number: number,
  most: number,
): readonly { readonly number: number; readonly moment: Moment }[] {
  const { recording: shown, world } = view.value;
  const { moments } = shown;
  const found: { number: number; moment: Moment }[] = [];
  const take = (at: number): boolean => {
    const moment = moments.at(at);
    const isIn = moment !== undefined && isWanted(moment, world, family.value);
    if (isIn) found.push({ number: at, moment });
    return isIn;
  };
  // What comes after it has a share, so that one sees where the next step leads.
  for (let at = number + 1, after = 0; at < moments.end && after < most / 4; at += 1) if (take(at)) after += 1;
  for (let at = number; at >= moments.first && found.length < most; at -= 1) take(at);
  return found.sort((a, b) => a.number - b.number);
}

/** The next wanted moment in a direction; null: there is none. */
function nextFrom(number: number, by: 1 | -1): number | null {
  const { recording: shown, world } = view.value;
  const { moments } = shown;
  for (let at = number + by; at >= moments.first && at < moments.end; at += by) {
    const moment = moments.at(at);
    if (moment !== undefined && isWanted(moment, world, family.value)) return at;
  }
  return null;
}

/** Stands still at a moment. */
export function lookAt(number: number): void {
  recording.value.isHeld = true;
  cursor.value = number;
}

export function step(by: 1 | -1): void {
  const { moment } = view.value;
  if (moment === null) return;
  const next = nextFrom(moment.number, by);
  lookAt(next ?? moment.number);
}

export function hold(): void {
  const { moments } = recording.value;
  if (moments.end > moments.first) lookAt(moments.end - 1);
}

export function goLive(): void {
  const wasFull = recording.value.leftOutHere > 0;
  batch(() => {
    recording.value.isHeld = false;
    cursor.value = null;
    trouble.value = null;
  });
  // What was left out cannot be had any more, and states after it would be guesses.
  if (wasFull || isOff.value || source.value.file !== null) watch();
}

export function choose(sessionId: string): void {
  batch(() => {
    follows.value = false;
    chosen.value = sessionId;
  });
}

let stop: (() => void) | null = null;
let timer: ReturnType<typeof setTimeout> | null = null;

/** From here on the daemon is asked; what was there before is let go of. */
export function watch(): void {
  unwatch();
  sessionStorage.removeItem(KEPT_OFF);
  batch(() => {
    isOff.value = false;
    recording.value = new Recording();
    cursor.value = null;
    source.value = { file: null, isLive: false };
  });
  let heardBefore = 0;
  stop = follow({
    url: `/api/v1/inspect?${wanted()}`,
    headers: pageHeaders,
    listeners: { message: (data, chars) => take(data, chars, () => heardBefore) },
    onLive: (isLive) => {
      showNow();
      if (isLive) heardBefore = recording.value.end;
      source.value = { file: null, isLive };
    },
    onRefused: (status) => {
      trouble.value =
        status === 403 ? "This takes a login that may act: scope write." : `The daemon refuses it (${status}).`;
    },
  });
}

export function unwatch(): void {
  stop?.();
  stop = null;
  if (timer !== null) clearTimeout(timer);
  timer = null;
}

/** What was recorded stays to be looked at. */
export function turnOff(): void {
  showNow();
  unwatch();
  sessionStorage.setItem(KEPT_OFF, "1");
  batch(() => {
    isOff.value = true;
    source.value = { file: null, isLive: false };
  });
}

/** What is not wanted is not made. */
function wanted(): URLSearchParams {
  const query = new URLSearchParams({ definitions: "once", resting: String(RESTING) });
  for (const pattern of identity.value.split(/[\s]+/).filter((text) => text !== "")) query.append("identity", pattern);
  const kinds = KINDS.filter((kind) => !hidden.value.has(kind));
  if (kinds.length > 0 && kinds.length < KINDS.length) query.set("kind", kinds.join(","));
  return query;
}

function take(data: unknown, chars: number, knownSince: () => number): void {
  const told = toldIn(data);
  if (typeof told === "string") return;
  const kept = recording.value;
  // At once, in the slices in which it is heard: thousands of them together would hold the page for as long as they take.
  kept.append(told, chars);
  const isListed = told.type === "@xstate.event" && told.event.type === "LISTED";
  // What was left out here may have been the list itself.
  if (isListed && kept.leftOutHere === 0) {
    for (const gone of goneSince(kept.tip, knownSince(), told.createdAt)) kept.append(gone, 0);
  }
  timer ??= setTimeout(showNow, Math.max(SHOWN_EVERY_MS, REST * tookMs));
}

/** Showing the last bunch, until it was to be seen. */
let tookMs = 0;

/** What has come in since it was shown last. */
function showNow(): void {
  if (timer === null) return;
  clearTimeout(timer);
  timer = null;
  const beganAt = performance.now();
  heard.value += 1;
  requestAnimationFrame(() => {
    // A frame may be waited for, too.
    tookMs = Math.min(LONGEST_SHOW_MS, performance.now() - beganAt);
  });
}

/** Shows a file in the place of the daemon. */
export function show(file: string, lines: readonly Line[]): void {
  unwatch();
  const opened = new Recording();
  for (const { told, chars } of lines) opened.append(told, chars);
  opened.isHeld = true;
  batch(() => {
    recording.value = opened;
    source.value = { file, isLive: false };
    trouble.value = null;
    cursor.value = opened.moments.first;
  });
}
