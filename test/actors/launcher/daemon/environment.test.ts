import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { EnvironmentReader } from "../../../../src/actors/launcher/daemon/environment.js";
import type { ProcessArm, SourcedEnv } from "../../../../src/actors/launcher/port.js";
import { configTrust } from "../../../../src/krond/boot/config-trust.js";
import { isRoot, ROOT_ONLY, shellRequest } from "../../../support/launcher.js";
import { temporaryDirectories } from "../../../support/temporary.js";

const newDirectory = temporaryDirectories();
const daemonUid = process.geteuid?.() ?? 0;
const CANARY = "canary-5up3r";
const trust = () => configTrust({ daemonUid, trustedUids: [], privateGid: null });

function requestWith(sources: Partial<SourcedEnv>, env: Readonly<Record<string, string>> = {}): ProcessArm {
  const request = shellRequest("true");
  const envSources = { files: [], passed: [], credentials: {}, kept: [], ...sources };
  return { ...request, env: { ...request.env, ...env }, envSources };
}

function write(text: string, mode = 0o600): string {
  const file = path.join(newDirectory(), "job.env");
  fs.writeFileSync(file, text);
  fs.chmodSync(file, mode);
  return file;
}

async function added(request: ProcessArm, env: Readonly<Record<string, string>> = {}) {
  const complete = await new EnvironmentReader({ env, check: trust }).complete(request);
  return complete.ok ? complete.value.env : complete.error;
}

describe("variables that are on no record", () => {
  test("what counts: the definition, then credentials, then the last file, then what is passed on", async () => {
    const credentials = newDirectory();
    fs.writeFileSync(path.join(credentials, "db"), "from credential\n");
    const files = [write("A=first\nB=first\nC=first\nD=first\n"), write("A=second\nB=second\nC=second\n")];
    const sources = { files, passed: ["A", "E", "MISSING"], credentials: { B: "db", C: "db" }, kept: ["C"] };
    const own = { CREDENTIALS_DIRECTORY: credentials, A: "passed", E: "passed", F: "not asked for" };
    const env = await added(requestWith(sources, { C: "definition", PATH: "/bin" }), own);
    expect(env).toMatchObject({ A: "second", B: "from credential", C: "definition", D: "first", E: "passed" });
    expect(env).toMatchObject({ PATH: "/bin", KRON_ATTEMPT_ID: expect.any(String) });
    expect(Object.keys(env)).not.toContain("F");
    expect(Object.keys(env)).not.toContain("MISSING");
  });

  test("what the daemon gives each job of itself can be replaced, and the launcher is told no places", async () => {
    const request = requestWith({ files: [write("PATH=/opt/bin\nTZ=UTC\n")] }, { PATH: "/bin", TZ: "Europe/Berlin" });
    const complete = await new EnvironmentReader({ env: {}, check: trust }).complete(request);
    expect(complete).toMatchObject({ ok: true, value: { env: { PATH: "/opt/bin", TZ: "UTC" } } });
    expect(complete.ok && "envSources" in complete.value).toBe(false);
  });

  test("files are read anew for each start", async () => {
    const file = write("A=1\n");
    const request = requestWith({ files: [file] });
    expect(await added(request)).toMatchObject({ A: "1" });
    fs.writeFileSync(file, "A=2\n");
    expect(await added(request)).toMatchObject({ A: "2" });
  });

  const refusals: readonly (readonly [name: string, make: () => Partial<SourcedEnv>, message: RegExp])[] = [
    [
      "a file that is missing",
      () => ({ files: ["/nonexistent/a.env"] }),
      /^\/nonexistent\/a\.env cannot be read: ENOENT$/,
    ],
    ["a directory", () => ({ files: [newDirectory()] }), / is no file$/],
    [
      "a file that others may write",
      () => ({ files: [write(`A=${CANARY}`, 0o666)] }),
      /may be written by others.*: chmod go-w /,
    ],
    ["a line that is none", () => ({ files: [write(`A=1\n${CANARY}`)] }), /job\.env:2: expected NAME=value$/],
    ["a credential without a service manager", () => ({ credentials: { A: "db" } }), /LoadCredential=db:/],
    [
      "a file beyond all bounds",
      () => ({ files: [write("A=".padEnd(1024 * 1024 + 1, "x"))] }),
      /is longer than 1048576 bytes$/,
    ],
  ];

  test.each(refusals)("%s: refused by its name and place, never by what is in it", async (_name, make, message) => {
    const failure = await added(requestWith(make()));
    expect(failure).toEqual({ code: "secret-unreadable", message: expect.stringMatching(message) });
    expect(JSON.stringify(failure)).not.toContain(CANARY);
  });

  test.skipIf(!isRoot)(`a file of somebody else${ROOT_ONLY}`, async () => {
    const file = write(`A=${CANARY}`, 0o644);
    fs.chownSync(file, 54_321, 54_321);
    expect(await added(requestWith({ files: [file] }))).toMatchObject({ code: "secret-unreadable" });
  });

  test("a credential that is missing names its file", async () => {
    const directory = newDirectory();
    const failure = await added(requestWith({ credentials: { A: "db" } }), { CREDENTIALS_DIRECTORY: directory });
    expect(failure).toMatchObject({ message: `${directory}/db cannot be read: ENOENT` });
  });
});
