/** Opening and closing a door of the daemon: what its servers have in common. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { KronError } from "../../core/base/errors/kron-error.js";

/** What is open, until it is closed. */
export interface Door {
  close(): Promise<void>;
}

export interface OpenDoor extends Door {
  readonly host: string;
  readonly port: number;
}

interface DoorAddress {
  readonly host: string;
  /** 0: one that is free. */
  readonly port: number;
}

/** Rejects with a KronError when the address cannot be had. `purpose` says whom it is for. */
export function listenOn(server: Server, { host, port }: DoorAddress, purpose: string): Promise<OpenDoor> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(unavailable(`cannot listen on ${host}:${port}${purpose}`, cause)));
    server.listen({ host, port }, () => {
      // From now on a broken connection is the client's trouble.
      server.removeAllListeners("error").on("error", () => undefined);
      const address = server.address() as AddressInfo;
      resolve({ host: address.address, port: address.port, close: () => close(server) });
    });
  });
}

export function unavailable(message: string, cause?: unknown): KronError {
  return new KronError("socket-unavailable", message, { component: "api", operation: "listen", cause });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
