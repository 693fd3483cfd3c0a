/** The API server double in a process of its own, with as many KronJobs as are wanted: settled, never seen before, or all due every minute. */
import type { KronJob } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { beginPass, folded, nextEffect } from "../../src/operator/plan/pass.js";
import { ApiServer } from "../../test/support/kube/api-server.js";
import { type Fields, RESOURCES, type StoredObject } from "../../test/support/kube/store.js";

const kronJobs = Number(process.argv[2]);
const [isSettled, isDue] = [process.argv[3] === "settled", process.argv[3] === "due"];
const KRONJOBS = RESOURCES.find(({ name }) => name === "kronjobs");
const JOBS = RESOURCES.find(({ name }) => name === "jobs");
if (KRONJOBS === undefined || JOBS === undefined) throw new Error("the double lost a resource");
const server = new ApiServer({ bookmarkMs: 5_000 });
const template = {
  spec: {
    template: {
      spec: {
        restartPolicy: "Never",
        containers: [
          {
            name: "main",
            image: "busybox",
            command: ["sh", "-c", "true"],
            env: [{ name: "A", value: "b".repeat(1500) }],
          },
        ],
      },
    },
  },
};

/** What the first look writes. */
function settled(object: StoredObject): StoredObject {
  const now = Date.now();
  const kronJob = object as unknown as KronJob;
  const observed = {
    kronJob,
    jobs: new Map(),
    direct: new Set<string>(),
    tombstones: new Map(),
    lost: [],
    template: null,
  };
  let pass = beginPass(observed, NOTHING_KNOWN, now);
  for (let effect = nextEffect(pass); effect !== null; effect = nextEffect(pass)) {
    if (effect.type === "writeStatus") return { ...object, status: effect.status };
    pass = folded(pass, { kind: "done" }, now);
  }
  return object;
}

for (let n = 0; n < kronJobs; n++) {
  const name = `job-${String(n).padStart(5, "0")}`;
  const namespace = `team-${n % 50}`;
  const spec = {
    schedule: isDue ? "* * * * *" : `${n % 60} ${n % 24} * * *`,
    window: { mode: "after", duration: isDue ? "0s" : "6h" },
    policy: isDue ? { concurrency: "allow", deadline: "50s" } : { concurrency: "forbid", deadline: "1h" },
    jobTemplate: template,
  };
  const made = server.store.create(KRONJOBS, namespace, { metadata: { name }, spec }, false);
  if (!isSettled) continue;
  server.store.replace("kronjobs", settled(made));
  const at = server.store.timestamp();
  const ownerReferences = [
    { apiVersion: "kron.io/v1alpha1", kind: "KronJob", name, uid: made.metadata.uid, controller: true },
  ];
  const metadata = { name: `${name}-0123456789`, labels: { "kron.io/name": name }, ownerReferences };
  const job = server.store.create(JOBS, namespace, { metadata, spec: template.spec }, false);
  const conditions = [{ type: "Complete", status: "True", reason: "", message: "", lastTransitionTime: at }];
  server.store.replace("jobs", { ...job, status: { startTime: at, completionTime: at, conditions } });
}
await server.listen();
process.send?.({ url: server.url });

/** By period, how long after their chosen second the Jobs were released. */
const released = new Map<string, number[]>();
const seen = new Set<string>();
server.store.listeners.add(({ resource, object }) => {
  if (resource !== "jobs" || (object["spec"] as Fields)["suspend"] !== false || seen.has(object.metadata.uid)) return;
  seen.add(object.metadata.uid);
  const notes = object.metadata["annotations"] as Readonly<Record<string, string>>;
  const period = notes["kron.io/period-id"] ?? "";
  const lateMs = Date.now() - Date.parse(notes["kron.io/chosen-time"] ?? "");
  const known = released.get(period);
  if (known === undefined) released.set(period, [lateMs]);
  else known.push(lateMs);
});

/** So many changes of metadata that mean nothing to the operator; or the first period of which all were released. */
process.on("message", ({ touch }: { readonly touch: number | null }) => {
  if (touch === null) {
    process.send?.({ late: [...released.values()].find(({ length }) => length === kronJobs) ?? null });
    return;
  }
  for (const object of server.store.list("kronjobs", null).slice(0, touch)) {
    const metadata = { ...object.metadata, annotations: { touched: String(Date.now()) } as Fields };
    server.store.replace("kronjobs", { ...object, metadata });
  }
  process.send?.({ touched: touch });
});
process.on("disconnect", () => process.exit());
