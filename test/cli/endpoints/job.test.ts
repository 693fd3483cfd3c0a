/** kron job, asked of a real daemon. */
import { describe, expect, test } from "vitest";
import { desks } from "./place.js";

const desk = desks();

describe("kron job", () => {
  test("makes, shows, changes, holds and takes out jobs, by name and by id", async () => {
    const here = await desk();
    const made = await here.json<{ id: string }>("job", "create", "billing", "--description", "invoices");
    expect(made).toMatchObject({ job: "billing", name: "billing", status: "active", version: 1 });
    expect(await here.json("job", "show", made.id)).toEqual(await here.json("job", "show", "billing"));
    const text = await here.kron("job", "show", "billing");
    expect(text.out).toMatch(/^billing: invoices\nid +job_\w{16}\nstatus +active\n/);
    await here.kron("job", "update", "billing", "--name", "a/b c");
    expect(await here.json("job", "show", "a/b c")).toMatchObject({ id: made.id, version: 2, description: "invoices" });
    const table = await here.kron("job", "list");
    expect(table.out).toMatch(
      /^JOB +STATUS +CHANGED \(UTC\) +ID +DESCRIPTION\na\/b c +active +\S+ +job_\w+ +invoices\n$/,
    );
    await here.kron("endpoint", "create", "a/b c/x", "--url", `${here.server.url}x`, "--every", "1h");
    expect((await here.kron("job", "pause", "a/b c")).out).toMatch(/^job a\/b c is paused: /);
    expect(await here.json("endpoint", "show", "a/b c/x")).toMatchObject({ status: "held", next_run_at: null });
    expect(await here.json("job", "archive", "a/b c")).toMatchObject({ job: "a/b c", status: "archived" });
    expect((await here.kron("job", "resume", "a/b c")).out).toBe("job a/b c goes on\n");
    expect(await here.json("endpoint", "show", "a/b c/x")).toMatchObject({ status: "active" });
    const kept = await here.kron("job", "delete", "a/b c");
    expect([kept.exitCode, kept.err]).toEqual([1, expect.stringContaining("the job has endpoints")]);
    expect(await here.json("job", "delete", "a/b c", "--force")).toEqual({ job: "a/b c", deleted: true });
    expect(await here.json("job", "list")).toEqual([]);
    expect(await here.json("endpoint", "list")).toEqual([]);
  });

  test("asked about only, each says what would be, and does nothing; what is refused is refused", async () => {
    const here = await desk();
    const made = await here.kron("job", "create", "billing", "--dry-run");
    expect([made.out, await here.json("job", "list")]).toEqual(["job billing would be made; nothing was done\n", []]);
    const { dry_run: isDry, version } = await here.json("job", "create", "billing", "--dry-run");
    expect([isDry, version]).toEqual([true, 1]);
    await here.kron("job", "create", "billing");
    await here.kron("endpoint", "create", "billing/x", "--url", `${here.server.url}x`, "--every", "1h");
    const before = await here.json("job", "show", "billing");
    const changed = await here.kron("job", "update", "billing", "--name", "other", "--dry-run");
    expect(changed.out).toBe("job other would be changed; nothing was done\n");
    const gone = await here.kron("job", "delete", "billing", "--force", "--dry-run");
    expect(gone.out).toBe("1 job would be deleted; nothing was done:\n  billing\n");
    const refused = await here.kron("job", "delete", "billing", "--dry-run");
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining("the job has endpoints")]);
    expect(await here.json("job", "show", "billing")).toEqual(before);
  });

  test("says whom its endpoints tell, and an endpoint may say otherwise", async () => {
    const here = await desk();
    const told = `${here.server.url}told`;
    const secret = ["--notify-secret", "env:HOOK"];
    const world = { env: { HOOK: "whsec hush" } };
    await here.kronWith(world, "job", "create", "billing", "--notify", told, "--notify-after", "2", ...secret);
    const tells = `tells +${told}: failure, missed, recovered, after 2 failures in a row, signed\n`;
    expect((await here.kron("job", "show", "billing")).out).toMatch(new RegExp(tells));
    const endpoint = ["--url", `${here.server.url}bad/x`, "--every", "1h"];
    await here.kron("endpoint", "create", "billing/x", ...endpoint);
    for (let runs = 0; runs < 2; runs++) await here.kron("endpoint", "run", "billing/x", "--wait");
    await here.krond.event("notified", { of: "failure" });
    const message = JSON.parse(here.server.hits.find(({ path }) => path === "/told")?.body ?? "{}");
    expect(message).toMatchObject({ job: "billing", endpoint: "x", text: "billing/x failed (HTTP 503)" });
    const stats = await here.kron("stats", "billing/x");
    expect(stats.out).toMatch(/^in trouble \(failure\) since \S+, which was told$/m);
    const quiet = await here.kron("endpoint", "update", "billing/x", "--notify", "none");
    expect(quiet.out).toContain("notify: null -> []");
    expect((await here.kron("endpoint", "show", "billing/x")).out).toMatch(/^tells +nobody$/m);
    const wrong = await here.kron("endpoint", "update", "billing/x", "--notify-after", "2");
    expect([wrong.exitCode, wrong.err]).toEqual([1, expect.stringContaining("are about --notify URL")]);
    expect(JSON.stringify(here.krond.lines)).not.toContain("hush");
  });

  test("several at once: what fails for one is told, and the others have their turn", async () => {
    const here = await desk();
    for (const name of ["a", "b"]) await here.kron("job", "create", name);
    await here.kron("endpoint", "create", "a/x", "--url", `${here.server.url}x`, "--every", "1h");
    const { exitCode, out, err } = await here.kron("job", "delete", "a", "b");
    expect([exitCode, out]).toEqual([1, "job b is deleted; its runs stay on record\ndeleted 1 of 2 jobs\n"]);
    expect(err).toBe("kron: a: the job has endpoints\n");
  });

  test("another tenant sees nothing of them, and may use the same names", async () => {
    const here = await desk();
    const ours = await here.json<{ id: string }>("job", "create", "billing");
    const theirs = await here.json<{ id: string }>("job", "create", "billing", "--tenant", "acme");
    expect(theirs.id).not.toBe(ours.id);
    expect(await here.json("job", "list", "--tenant", "acme")).toEqual(
      [theirs].map((job) => expect.objectContaining(job)),
    );
    const { exitCode, err } = await here.kron("job", "show", ours.id, "--tenant", "acme");
    expect([exitCode, err]).toEqual([1, `kron: no job "${ours.id}"\n`]);
  });

  test("bad input is told where it stands, and nothing is changed", async () => {
    const here = await desk();
    await here.kron("job", "create", "billing");
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /job needs to be told what to do\n {2}one of list, show, /],
      [["lsit"], /job: "lsit" is nothing it can do\n {2}did you mean 'kron job list'\?/],
      [["list", "x"], /list takes no arguments/],
      [["list", "--force"], /--force is not for 'kron job list'\n {2}it is for delete/],
      [["create"], /write: kron job create NAME/],
      [["create", "billing"], /the name: .*"billing" is taken/],
      [["create", "x\u0007"], /the name: .*no control characters/],
      [["create", "x", "--description", "y".repeat(5_000)], /--description: must have at most 4096 characters/],
      [["show", "biling"], /no job "biling"\n {2}did you mean "billing"\?/],
      [["show", "job_0000000000000000"], /no job "job_0000000000000000"/],
      [["update", "billing"], /there is nothing to change/],
      [["update", "billing", "--name", "x", "--if-match", "7"], /not as expected: this is version 1/],
      [["update", "billing", "--name", "x", "--if-match", "y"], /--if-match: "y" is not a whole number/],
      [["pause"], /pause takes a job/],
      [["list", "--tenant", "A/b"], /tenant: must be small letters/],
    ];
    for (const [args, message] of rows) {
      const { exitCode, out, err } = await here.kron("job", ...args);
      expect({ args, exitCode, out, err }).toEqual({ args, exitCode: 1, out: "", err: expect.stringMatching(message) });
    }
    expect(await here.json("job", "list")).toMatchObject([{ job: "billing", version: 1 }]);
  });
});
