/** `--on-this-host` without a daemon: launcher processes of our own, which make each kind of job ready and close it again. */
import { randomUUID } from "node:crypto";
import { systemClock } from "../actors/clock.js";
import { createDispatcher } from "../actors/dispatcher/http-dispatcher.js";
import { EnvironmentReader } from "../actors/launcher/daemon/environment.js";
import { startLauncher } from "../actors/launcher/daemon/process-launcher.js";
import type { Configuration } from "../actors/pool/load/configuration.js";
import { type HostFindings, hostFindings } from "../actors/preflight/findings.js";
import { HostCheck } from "../actors/preflight/host-check.js";
import { RunnerRouter } from "../actors/runner/router.js";
import { configTrust, trustRules } from "../krond/boot/config-trust.js";
import { jobBaseEnv } from "../krond/boot/wiring.js";
import type { CliIo } from "./io.js";

/** As a daemon of root or of this user would find them; what only its own surroundings can tell is left open. */
export async function findingsOnThisHost(
  { jobs, settings }: Pick<Configuration, "jobs" | "settings">,
  io: CliIo,
): Promise<HostFindings> {
  const clock = systemClock;
  const launcher = await startLauncher({ clock, count: 1 });
  const environment = new EnvironmentReader({ env: {}, check: () => configTrust(trustRules([])) });
  const runner = new RunnerRouter(launcher, createDispatcher({ clock, env: {} }), environment);
  try {
    const check = new HostCheck({
      runner,
      baseEnv: jobBaseEnv(io.env),
      env: null,
      sendmail: settings.notifications.sendmail,
      isStarter: process.geteuid?.() === 0,
      now: () => clock.now(),
      newId: randomUUID,
    });
    return await hostFindings(jobs, check, Number.POSITIVE_INFINITY);
  } finally {
    await runner.close();
  }
}
