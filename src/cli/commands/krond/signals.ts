import type { Daemon } from "../../../krond/daemon.js";

/** SIGHUP reloads, SIGTERM and SIGINT drain. Returns what takes the handlers away again. */
export function onSignals(daemon: Daemon): () => void {
  const handlers: Readonly<Record<string, () => void>> = {
    SIGHUP: () => void daemon.hangUp(),
    SIGTERM: () => daemon.interrupt("SIGTERM"),
    SIGINT: () => daemon.interrupt("SIGINT"),
  };
  const crash = (error: unknown) => void daemon.fail(error);
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  return () => {
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
    process.off("uncaughtException", crash);
    process.off("unhandledRejection", crash);
  };
}
