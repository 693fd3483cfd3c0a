/** The operator in a process of its own, and what it costs. */
import { systemClock } from "../../src/actors/clock.js";
import { fixedCredentials } from "../../src/operator/kube/credentials.js";
import { Operator } from "../../src/operator/operator.js";

const identity = { authorization: null, cert: null, key: null };
const operator = new Operator({
  config: {
    server: new URL(String(process.argv[2])),
    namespace: "default",
    tls: { rejectUnauthorized: true },
    credentials: fixedCredentials(identity),
  },
  clock: systemClock,
  random: Math.random,
  log: { daemon: () => undefined },
  metrics: null,
  namespaces: [],
  holder: "bench",
  lease: null,
  standbyMs: 2_000,
  tzVersion: "bench",
});

function cost(): { readonly atMs: number; readonly cpuMs: number; readonly rss: number; readonly depth: number } {
  const { user, system } = process.cpuUsage();
  const depth = operator.controller.queueDepth + operator.controller.running;
  return { atMs: performance.now(), cpuMs: (user + system) / 1000, rss: process.memoryUsage().rss, depth };
}

const before = cost();
await operator.start();
process.send?.({
  started: { before, after: cost(), kronJobs: operator.controller.kronJobs, jobs: operator.controller.jobs },
});
process.on("message", () => process.send?.({ cost: cost() }));
process.on("disconnect", () => process.exit());
