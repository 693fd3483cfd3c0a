/** kron keys, asked of a real daemon. */
import { expect, test } from "vitest";
import { KEYS_VERBS } from "../../../src/cli/commands/specs/keys.js";
import { desks } from "./place.js";

const desk = desks();

interface Key {
  readonly id: string;
  readonly standing: string;
  readonly rotated_to: string | null;
  readonly key?: string;
}

test("a key is made, shown once, listed, replaced and taken back", async () => {
  const here = await desk();
  const made = await here.kron("keys", "create", "--scope", "write", "--tenant", "acme", "--name", "deploys");
  expect([made.exitCode, made.out]).toEqual([0, expect.stringMatching(/^kron_[a-z2-7]{8}_\w+\n$/)]);
  expect(made.err).toMatch(/^key \w{8} of tenant acme, scope write: it is shown this once\n$/);
  const listed = await here.kron("keys", "list");
  const [, id = ""] = /^kron_(\w{8})_/.exec(made.out) ?? [];
  expect(listed.out).toMatch(new RegExp(`^ID +NAME +TENANT +SCOPE.*\\n${id} +deploys +acme +write +active `));
  expect(listed.out).not.toContain(made.out.trim());
  const next = await here.json<Key>("keys", "rotate", id, "--grace", "1h");
  expect([next.standing, next.key]).toEqual(["active", expect.stringMatching(/^kron_/)]);
  expect((await here.kron("keys", "revoke", next.id, "--dry-run")).out).toContain("nothing was done");
  expect((await here.kron("keys", "revoke", next.id)).out).toBe(`${next.id} is revoked\n`);
  const standings = (await here.json<Key[]>("keys", "list")).map((key) => [key.id, key.standing, key.rotated_to]);
  expect(new Map(standings.map(([of, ...rest]) => [of, rest]))).toEqual(
    new Map([
      [id, ["active", next.id]],
      [next.id, ["revoked", null]],
    ]),
  );
});

test("a name that turns the text over does so in no table", async () => {
  const here = await desk();
  await here.kron("keys", "create", "--scope", "read", "--name", "a\u202eb\u200bc");
  const { out } = await here.kron("keys", "list");
  expect(out).toContain("a\ufffdb\ufffdc");
});

test("bad input is told, and no key is made", async () => {
  const here = await desk();
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [[], new RegExp(`keys needs to be told what to do\\n {2}one of ${Object.keys(KEYS_VERBS.verbs).join(", ")}`)],
    [["revok"], /did you mean 'kron keys revoke'\?/],
    [["create"], /create needs --scope\n {2}one of read, write, admin/],
    [["create", "x", "--scope", "read"], /create takes no arguments/],
    [["list", "--scope", "read"], /--scope is not for 'kron keys list'\n {2}it is for create/],
    [["rotate"], /write: kron keys rotate ID/],
    [["revoke", "aaaaaaaa"], /no key "aaaaaaaa"\n {2}'kron keys list' shows them/],
  ];
  for (const [args, message] of rows) {
    const { exitCode, out, err } = await here.kron("keys", ...args);
    expect({ args, exitCode, out, err }).toEqual({ args, exitCode: 1, out: "", err: expect.stringMatching(message) });
  }
  expect(await here.json("keys", "list")).toEqual([]);
});
