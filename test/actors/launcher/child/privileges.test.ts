import { describe, expect, test } from "vitest";
import { type Account, Accounts } from "../../../../src/actors/launcher/child/accounts.js";
import { type Identity, resolveIdentity, verifyIdentity } from "../../../../src/actors/launcher/child/privileges.js";

const uid = process.geteuid?.() ?? 0;
const gid = process.getegid?.() ?? 0;
const own: Account = { name: "me", uid, gid, groups: [gid], home: "/", isListed: true };

function wanted(more: Partial<Account>, wantedGid = gid): Identity {
  return { account: { ...own, ...more }, gid: wantedGid, prefix: ["setpriv"], mustVerify: true };
}

describe("S23: what the kernel says of a process is compared with what it should be", () => {
  test.each<[name: string, identity: Identity, complaint: RegExp]>([
    ["another user", wanted({ uid: uid + 1 }), /^its uids are /],
    ["another group", wanted({}, gid + 1), /^its gids are /],
    ["a group that is missing", wanted({ groups: [gid, 987_654] }), /^its groups are /],
  ])("%s", (_, identity, complaint) => {
    expect(verifyIdentity(process.pid, identity)).toMatch(complaint);
  });

  test("a process that cannot be looked at is not believed", () => {
    expect(verifyIdentity(2 ** 22 + 1, wanted({}))).toBe("the process cannot be looked at");
  });

  test("what was not dropped keeps the daemon's own groups", () => {
    expect(verifyIdentity(process.pid, { ...wanted({ groups: [] }), prefix: [] })).toBeNull();
  });
});

describe("who may become whom", () => {
  const nobody = { uid: 65_534, gid: 65_534 };
  test.each<[name: string, user: string | null, group: string | null, outcome: string]>([
    ["nobody asked: one stays what one is", null, null, "as it is"],
    ["oneself by number", "65534", "65534", "verified"],
    ["somebody else", "root", null, "privilege-drop-failed"],
    ["another group", null, "0", "privilege-drop-failed"],
    ["nobody known", "kron-nobody", null, "user-unknown"],
  ])("without root: %s", async (_, user, group, outcome) => {
    const identity = await resolveIdentity(new Accounts(), nobody, user, group);
    const seen = identity.ok ? (identity.value.mustVerify ? "verified" : "as it is") : identity.error.code;
    expect(seen).toBe(outcome);
    expect(identity.ok ? identity.value.prefix : []).toEqual([]);
  });

  test("root drops everything, in the order that leaves nothing behind", async () => {
    const identity = await resolveIdentity(new Accounts(), { uid: 0, gid: 0 }, "nobody", null);
    expect(identity.ok && identity.value.prefix.slice(1)).toEqual([
      "--reuid=65534",
      "--regid=65534",
      "--init-groups",
      "--",
    ]);
  });

  test("what is known about an account is asked once, until a surprise", async () => {
    const accounts = new Accounts();
    const first = accounts.userOf("nobody");
    expect(accounts.userOf("nobody")).toBe(first);
    accounts.forget();
    expect(accounts.userOf("nobody")).not.toBe(first);
    expect(await first).toEqual(await accounts.userOf("nobody"));
  });
});
