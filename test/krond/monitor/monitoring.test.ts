import { spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses, type RunningKrond } from "../../support/krond.js";
import { job, NEVER, placesIn } from "../../support/place.js";
import { temporaryDirectories } from "../../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

async function asked(krond: RunningKrond, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const { metrics } = await krond.ready();
  const response = await fetch(`http://${String(metrics)}${path}`);
  return { status: response.status, text: await response.text() };
}

describe("what a running daemon tells machines", () => {
  test("has every metric of the documentation; series of single jobs for those that were named", async () => {
    const here = place(job("t/a", "true") + job("u/b", "true") + job("t/new", "true"));
    const krond = startKrond(here.config, here.state, ["--metrics", "0", "--metrics-jobs", "t/*,v/*"]);
    await krond.ready();
    for (const identity of ["t/a", "u/b"]) {
      here.kron("run", identity);
      await krond.event("completed", { identity });
    }
    const { text } = await asked(krond, "/metrics");
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "kron_runs_total",
        "kron_run_duration_seconds",
        "kron_start_lateness_seconds",
        "kron_job_next_run_timestamp_seconds",
        "kron_job_last_success_timestamp_seconds",
        "kron_event_loop_delay_seconds",
        "kron_commit_seconds",
        "kron_jobs",
        "kron_active",
      ]),
    );
    expect(text).toMatch(/^kron_commit_seconds_count [1-9]/m);
    expect(text).toMatch(/^kron_event_loop_delay_seconds\{quantile="0.99"\} /m);
    const january = Date.UTC(new Date().getUTCFullYear() + 1, 0, 1) / 1000;
    expect(text).toContain(`kron_job_next_run_timestamp_seconds{identity="t/a"} ${january}`);
    expect(text).toContain(`kron_job_next_run_timestamp_seconds{identity="t/new"} ${january}`);
    expect(text).toContain('kron_job_last_success_timestamp_seconds{identity="t/a"} ');
    expect(text).not.toContain('last_success_timestamp_seconds{identity="t/new"}');
    expect(text).not.toContain("u/b");
    await krond.kill("SIGTERM");
    const next = startKrond(here.config, here.state, ["--metrics", "0", "--metrics-jobs", "t/a"]);
    const again = await asked(next, "/metrics");
    const series = /^kron_job_last_success_timestamp_seconds.*$/gm;
    expect(again.text.match(series)?.[0]).toMatch(/\{identity="t\/a"\} \d+/);
    expect(again.text.match(series)).toHaveLength(1);
  });

  test("when a request was answered last as it should be is known after a restart too", async () => {
    const target = createServer((request, response) => {
      response.statusCode = request.url === "/well" ? 204 : 500;
      response.end();
    });
    target.listen(0, "127.0.0.1");
    await once(target, "listening");
    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
    const request = (identity: string, path: string): string =>
      `  - { identity: ${identity}, schedule: "${NEVER}", http: { url: "${url}${path}" } }\n`;
    const here = place(request("t/well", "/well") + request("t/ill", "/ill"));
    const options = ["--metrics", "0", "--metrics-jobs", "t/*", "--allow-private"];
    const krond = startKrond(here.config, here.state, options);
    await krond.ready();
    for (const identity of ["t/well", "t/ill"]) {
      here.kron("run", identity);
      await krond.event("completed", { identity });
    }
    await krond.kill("SIGTERM");
    const { text } = await asked(startKrond(here.config, here.state, options), "/metrics");
    target.close();
    expect(text).toMatch(/^kron_job_last_success_timestamp_seconds\{identity="t\/well"\} \d+/m);
    expect(text).not.toContain('last_success_timestamp_seconds{identity="t/ill"}');
  });

  test("readiness fails while the configuration cannot be read, health does not; both are well again afterwards", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--metrics", "0"]);
    expect((await asked(krond, "/readyz")).status).toBe(200);
    const sound = fs.readFileSync(here.config, "utf8");
    fs.writeFileSync(here.config, "jobs: [\n");
    expect(here.krond("reload").status).toBe(2);
    const broken = await asked(krond, "/readyz");
    expect([broken.status, JSON.parse(broken.text).reason]).toEqual([
      503,
      "the configuration could not be read: 1 problems",
    ]);
    expect((await asked(krond, "/healthz")).status).toBe(200);
    fs.writeFileSync(here.config, sound);
    expect(here.krond("reload").status).toBe(0);
    expect((await asked(krond, "/readyz")).status).toBe(200);
  });

  test("a daemon that was held up says for how long, and what ran", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    krond.child.kill("SIGSTOP");
    spawnSync("sleep", ["0.4"]);
    krond.child.kill("SIGCONT");
    const line = await krond.event("loop_delay", { level: "warn" }, krond.lines.length);
    expect(line["delay_ms"]).toBeGreaterThan(100);
    expect(line["during"]).toEqual(expect.arrayContaining([expect.any(String)]));
  });
});
