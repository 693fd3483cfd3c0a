/** The API, over real HTTP, of a daemon whose clock is virtual: a day passes in a moment. */
import { afterEach } from "vitest";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { openApi } from "../../../src/api/door.js";
import { API_LIMITS } from "../../../src/api/limits.js";
import { err } from "../../../src/core/base/result.js";
import type { NamedDoor } from "../../../src/operations/door.js";
import { CREATE_KEY, type NewKeyAnswer, REVOKE_KEY, ROTATE_KEY } from "../../../src/operations/keys/keys.js";
import type { DaemonOperation } from "../../../src/operations/operation.js";
import type { Acting } from "../../../src/operations/ports.js";
import { Desk, type DeskOptions } from "../../operations/endpoints/desk.js";
import { type ApiClient, apiClient, type Send } from "./client.js";
import { placeOf } from "./daemon.js";

const open: { readonly door: NamedDoor; readonly client: ApiClient; readonly desk: Desk }[] = [];
afterEach(async () => {
  for (const { door, client, desk } of open.splice(0)) {
    client.close();
    // What never ends is waited for, for as long as a door waits.
    const closed = door.close();
    await desk.world.pass(API_LIMITS.closeMs + 1_000);
    await closed;
  }
});

export interface DeskApi {
  readonly desk: Desk;
  readonly send: Send;
  readonly client: ApiClient;
  readonly door: NamedDoor;
  /** Of what went wrong and was told to nobody but the log. */
  readonly reported: unknown[];
  key(wish: object): Promise<NewKeyAnswer>;
  rotate(id: string, graceMs: number): Promise<NewKeyAnswer>;
  revoke(id: string): Promise<void>;
}

export async function deskApi(options: DeskOptions = {}, rate = { perSecond: 1_000, burst: 1_000 }): Promise<DeskApi> {
  const desk = await Desk.open(options);
  return apiOf(desk, rate);
}

/** Another door of the same daemon, which knows nothing of the first. */
export async function apiOf(
  desk: Desk,
  rate = { perSecond: 1_000, burst: 1_000 },
  instead: Partial<Acting> = {},
): Promise<DeskApi> {
  const listeners = new Set<(event: SupervisorEvent) => void>();
  const reported: unknown[] = [];
  desk.onEvent = (event) => {
    for (const listener of listeners) listener(event);
  };
  const address = { kind: "port", host: "127.0.0.1", port: 0 } as const;
  const door = await openApi(
    { address, tls: null, proxyNames: [], rate },
    {
      acting: { ...desk.ports, ...instead },
      clock: desk.world.clock,
      inspection: { watch: () => err("nothing is to be watched here") },
      subscribe: (listener) => {
        const tell = (event: SupervisorEvent): void => listener.tell(event);
        listeners.add(tell);
        return () => listeners.delete(tell);
      },
      watchCommits: () => () => undefined,
      report: (error) => reported.push(error),
    },
  );
  const client = apiClient(placeOf(door.address));
  open.push({ door, client, desk });
  const asHost = async (operation: unknown, input: object): Promise<NewKeyAnswer> => {
    const { input: shape, run } = operation as DaemonOperation;
    return (await run(shape.parse(input), desk.ports, { keyId: null })) as NewKeyAnswer;
  };
  return {
    desk,
    door,
    client,
    reported,
    send: client.send,
    key: (wish) => asHost(CREATE_KEY, { tenant: "acme", scope: "write", ...wish }),
    rotate: (id, graceMs) => asHost(ROTATE_KEY, { id, graceMs }),
    revoke: async (id) => void (await asHost(REVOKE_KEY, { id })),
  };
}
