/** The API server double in a process of its own, with as many KronJobs as are wanted: settled, or never seen before. */
import type { KronJob } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { beginPass, folded, nextEffect } from "../../src/operator/plan/pass.js";
import { ApiServer } from "../../test/support/kube/api-server.js";
import { type Fields, RESOURCES, type StoredObject } from "../../test/support/kube/store.js";

const [kronJobs, isSettled] = [Number(process.argv[2]), process.argv[3] === "settled"];
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
  const observed = { kronJob, jobs: new Map(), direct: new Set<string>(), tombstones: new Map(), template: null };
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
    schedule: `${n % 60} ${n % 24} * * *`,
    window: { mode: "after", duration: "6h" },
    policy: { concurrency: "forbid", deadline: "1h" },
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

/** So many changes of metadata that mean nothing to the operator. */
process.on("message", ({ touch }: { readonly touch: number }) => {
  for (const object of server.store.list("kronjobs", null).slice(0, touch)) {
    const metadata = { ...object.metadata, annotations: { touched: String(Date.now()) } as Fields };
    server.store.replace("kronjobs", { ...object, metadata });
  }
  process.send?.({ touched: touch });
});
process.on("disconnect", () => process.exit());
