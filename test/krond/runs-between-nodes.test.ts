/** K8: runs whose jobs go to another node while they run, with real daemons, real children and a real server. */
import * as fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { type Member, Members } from "../support/member-daemons.js";
import { NEVER } from "../support/place.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const server = postgresServer();
const temporary = temporaryDirectories();
const start = krondProcesses(programs);
const names = Array.from({ length: 6 }, (_, index) => `job-${index}`);

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(50);
}

/** A run of each job on the first of two nodes, which then has none of them any more; each ends when it is let go. */
async function parted(command: string, more: Record<string, unknown> = {}) {
  const cluster = new Members(temporary(), server().address(await server().newDatabase()), programs, start);
  const one = await cluster.started("one");
  await cluster.want(
    names.map((name) => cluster.job(name, NEVER, `echo "$KRON_IDENTITY" >> "$WITNESS"; ${command}`, more)),
  );
  await one.daemon.event("revision_applied");
  for (const name of names) expect(one.kron("run", name).status).toBe(0);
  await until(() => cluster.seen.length === names.length);
  const two = await cluster.started("two");
  await cluster.admin.drain("one", true);
  await one.daemon.event("node_drained");
  return { cluster, one, two };
}

function runsOf({ kron }: Member): readonly Readonly<Record<string, unknown>>[] {
  const rows = names.map(
    (name) => JSON.parse(kron("history", name, "--output", "json").out) as Record<string, unknown>[],
  );
  return rows.flat().filter(({ outcome }) => outcome === "executed");
}

test("C14: every exit code comes on record, although nobody but the node that was drained could see it", async () => {
  const { cluster, one, two } = await parted('until [ -e "$WITNESS.go" ]; do sleep 0.1; done; exit 7');
  const active = (): readonly unknown[] => {
    const rows = JSON.parse(two.kron("list", "--output", "json").out) as readonly {
      readonly active: readonly unknown[];
    }[];
    return rows.flatMap((row) => row.active);
  };
  // Whoever takes a shard over knows all that runs of it.
  await until(() => active().length === names.length);
  fs.writeFileSync(`${cluster.witness}.go`, "");
  await until(
    () => one.daemon.lines.filter(({ event, what }) => event === "run_away" && what === "told").length === names.length,
  );
  expect(runsOf(two).map(({ exit_code }) => exit_code)).toEqual(names.map(() => 7));
  expect(cluster.seen).toHaveLength(names.length);
});

test("S28: cancel ends a run where it is, asked of whichever node", async () => {
  const { one, two } = await parted("exec sleep 600");
  expect(two.kron("cancel", "job-0")).toMatchObject({ status: 0 });
  expect(one.kron("cancel", "job-1")).toMatchObject({ status: 0 });
  await until(() => runsOf(two).filter(({ reason }) => reason === "cancelled").length === 2);
  expect(two.daemon.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("S29: a daemon that was killed finds its children, and their jobs are told when they end", async () => {
  const { cluster, one, two } = await parted('until [ -e "$WITNESS.go" ]; do sleep 0.1; done', {
    policy: { concurrency: "forbid" },
  });
  await one.daemon.kill("SIGKILL");
  // Its name is free when nobody takes it for alive.
  await cluster.admin.evict("one");
  let back = cluster.start("one");
  while ((await Promise.race([back.daemon.ready(), back.daemon.ended])) === 4) back = cluster.start("one");
  await cluster.admin.drain("one", true);
  await until(
    () => back.daemon.lines.filter(({ event, what }) => event === "run_away" && what === "adopted").length > 0,
  );
  // Nothing begins beside a run on another node, where somebody wants it so.
  expect(two.kron("run", "job-0", "--if-idle").err).toContain("running already");
  fs.writeFileSync(`${cluster.witness}.go`, "");
  await until(() => runsOf(two).filter(({ reason }) => reason === "exit_unseen").length === names.length);
  expect(cluster.seen).toHaveLength(names.length);
});
