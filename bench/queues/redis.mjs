/** A Redis of our own, on a Unix socket. */
import { connect } from "node:net";
import { join } from "node:path";
import { makeFolders, NotAvailable, outputOf, startServer } from "./service.mjs";

/** Every write is on disk before it is answered; without it Redis takes a snapshot now and then. */
const DURABLE_ARGS = ["--appendonly", "yes", "--appendfsync", "always"];

function answersPing(path) {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.on("data", (data) => {
      socket.destroy();
      resolve(data.toString().startsWith("+PONG"));
    });
  });
}

export async function startRedis({ isDurable }) {
  const version = /v=([\d.]+)/.exec(outputOf("redis-server", ["--version"]) ?? "")?.[1];
  if (version === undefined) throw new NotAvailable("no redis-server is installed");
  const folders = makeFolders("redis");
  const path = join(folders.sockets, "redis.sock");
  const args = ["--port", "0", "--unixsocket", path, "--dir", folders.data, ...(isDurable ? DURABLE_ARGS : [])];
  try {
    const stop = await startServer({ command: "redis-server", args, isReady: () => answersPing(path) });
    const end = async () => {
      await stop();
      folders.remove();
    };
    return { version, connection: { path }, stop: end };
  } catch (error) {
    folders.remove();
    throw error;
  }
}
