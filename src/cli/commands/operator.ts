import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { systemClock } from "../../actors/clock.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { exitStatusOf } from "../../core/base/errors/exit-status.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { parseDuration } from "../../core/time/duration.js";
import { createLog, type KronLog, usualLogFormat } from "../../krond/log/logging.js";
import { descriptorSink } from "../../krond/log/sink.js";
import { MetricRegistry } from "../../krond/monitor/metric-registry.js";
import { startStatusServer } from "../../krond/monitor/status-server.js";
import { type ClusterConfig, loadClusterConfig } from "../../operator/kube/config.js";
import { Operator, STANDBY_MS } from "../../operator/operator.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { listenAddress, oneOf } from "../listen-address.js";

const STANDARD_OUTPUT = 1;
const LEASE_NAME = "kron-operator";

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0)
    throw usageError("the operator takes no arguments", "kron operator --namespace NAME");
  const format = oneOf(args, "log-format", ["text", "json"] as const) ?? usualLogFormat(io.isOutTerminal);
  const log = createLog({ format, sink: descriptorSink(STANDARD_OUTPUT), now: io.now });
  const address = listenAddress(args, "metrics", "9464");
  const registry = new MetricRegistry();
  const operator = operatorOf(args, io, log, registry);
  const door =
    address === null
      ? null
      : await startStatusServer({
          ...address,
          metrics: () => registry.exposition(),
          health: () => operator.health(),
          readiness: () => operator.readiness(),
        });
  const ended = untilSignal();
  try {
    await Promise.race([operator.start(), ended]);
    tell(log, "started", { namespaces: args.all("namespace"), server: operator.server });
    await ended;
    tell(log, "stopping", {});
    await operator.stop();
    return EXIT.ok;
  } catch (error) {
    throw translated(error);
  } finally {
    operator.abort();
    await door?.close();
  }
}

function operatorOf(args: ParsedArgs, io: CliIo, log: KronLog, registry: MetricRegistry): Operator {
  const config = configOf(args, io);
  const holder = `${io.env["POD_NAME"] ?? hostname()}_${randomUUID().slice(0, 8)}`;
  const namespace = args.text("lease-namespace") ?? io.env["POD_NAMESPACE"] ?? config.namespace;
  return new Operator({
    config,
    clock: systemClock,
    random: Math.random,
    log,
    metrics: registry,
    isDetailed: args.has("metrics-per-kronjob"),
    namespaces: args.all("namespace"),
    holder,
    lease: args.has("no-lease") ? null : { namespace, name: LEASE_NAME },
    standbyMs: standbyMs(args),
    tzVersion: zoneDataVersion(),
  });
}

function configOf(args: ParsedArgs, io: CliIo): ClusterConfig {
  try {
    return loadClusterConfig({ kubeconfig: args.text("kubeconfig"), context: args.text("context") }, io.env);
  } catch (error) {
    throw translated(error);
  }
}

function standbyMs(args: ParsedArgs): number {
  const text = args.text("standby-delay");
  if (text === undefined) return STANDBY_MS;
  const duration = parseDuration(text);
  if (!duration.ok) throw usageError(`--standby-delay: ${duration.error.message}`, duration.error.hint);
  return duration.value;
}

function translated(error: unknown): unknown {
  return error instanceof KronError ? new CliError(exitStatusOf(error.code), error.message, error.hint) : error;
}

function tell(log: KronLog, event: string, fields: Readonly<Record<string, unknown>>): void {
  log.daemon({ at: systemClock.now(), event, component: "scheduler", level: "info", fields });
}

/** A second signal does not wait for anything. */
function untilSignal(): Promise<void> {
  return new Promise((done) => {
    let isAsked = false;
    const interrupt = (): void => {
      if (isAsked) process.exit(EXIT.ok);
      isAsked = true;
      done();
    };
    process.on("SIGTERM", interrupt);
    process.on("SIGINT", interrupt);
  });
}
