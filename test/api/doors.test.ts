/** Where the API is opened, and where it is not: loopback, TLS, a proxy that has a name, and a socket of one's own. */
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, runProgram } from "../support/krond.js";
import { eventually } from "../support/launcher.js";
import { job } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";
import { apiClient, type Wish } from "./support/client.js";
import { apiDaemon, placeOf } from "./support/daemon.js";

const FIXTURES = path.resolve(import.meta.dirname, "../operator/fixtures");
const fixture = (name: string): string => fs.readFileSync(path.join(FIXTURES, name), "utf8");
const CERTIFICATE = fixture("server.pem");
const FILES = { "api.crt": CERTIFICATE, "api.key": fixture("server-key.pem") };
const TLS = ["--api-tls", "ROOT/api.crt,ROOT/api.key"];

const temporary = temporaryDirectories();
const programs = builtPrograms();

/** A start that is refused: how it ended, and what it said. */
function refused(
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
): readonly [number | null, string] {
  const root = temporary();
  fs.chmodSync(root, 0o700);
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(root, name), text, { mode: 0o600 });
  fs.writeFileSync(path.join(root, "jobs.yaml"), `jobs:\n${job("t/good", "true")}`, { mode: 0o644 });
  const own = ["--config", path.join(root, "jobs.yaml"), "--state", path.join(root, "state")];
  const all = ["start", ...own, ...args.map((arg) => arg.replaceAll("ROOT", root))];
  const { status, out, err } = runProgram(programs().krond, all);
  return [status, out + err];
}

describe("beyond loopback only with TLS or a proxy that has a name", () => {
  test.each([["0.0.0.0:0"], ["[::]:0"], ["192.0.2.7:0"], ["[2001:db8::1]:0"], ["kron.example.com:0"], ["128.0.0.1:0"]])(
    "--api %s is refused",
    (address) => {
      const [status, text] = refused(["--api", address]);
      expect(status).toBe(1);
      expect(text).toContain("in the clear");
      expect(text).toContain("--api-behind-proxy");
    },
  );

  test.each([
    ["no address", ["--api", "nowhere"], /is no address/],
    ["options without the API", ["--api-rate", "5"], /--api-rate is for --api/],
    ["TLS on a socket", ["--api", "unix:ROOT/api.sock", ...TLS], /needs no TLS/],
    ["half of TLS", ["--api", "0", "--api-tls", "ROOT/api.crt"], /not a certificate and its key/],
    [
      "a proxy that is an address",
      ["--api", "0", "--api-behind-proxy", "https://kron.example.com"],
      /no name of a host/,
    ],
    ["a certificate that is not there", ["--api", "0", "--api-tls", "ROOT/no.crt,ROOT/api.key"], /cannot be read/],
    ["a certificate that is none", ["--api", "0", "--api-tls", "ROOT/api.key,ROOT/api.key"], /holds no certificate/],
    ["a key that is none", ["--api", "0", "--api-tls", "ROOT/api.crt,ROOT/api.crt"], /api\.crt holds no key/],
    [
      "the key of another",
      ["--api", "0", "--api-tls", "ROOT/api.crt,ROOT/other.key"],
      /other\.key holds no key of that/,
    ],
    ["something in the way", ["--api", "unix:ROOT/jobs.yaml"], /is no socket/],
  ])("%s is refused, in words", (_name, args, words) => {
    const [status, text] = refused(args, { ...FILES, "other.key": fixture("client-key.pem") });
    expect(status).not.toBe(0);
    expect(text).toMatch(words);
    expect(text).not.toMatch(/ at .*\.js:\d+/);
  });

  test("a key that everybody may read is refused", () => {
    const root = temporary();
    for (const [name, text] of Object.entries(FILES)) fs.writeFileSync(path.join(root, name), text);
    fs.chmodSync(path.join(root, "api.key"), 0o644);
    const [status, text] = refused(["--api", "0", "--api-tls", `${root}/api.crt,${root}/api.key`]);
    expect([status === 0, text]).toEqual([false, expect.stringContaining("can be read by everybody")]);
  });
});

describe("with TLS, at every address", () => {
  const daemon = apiDaemon({
    api: "0.0.0.0:0",
    args: TLS,
    files: FILES,
    place: (address) => ({ host: "127.0.0.1", port: Number(address.split(":").at(-1)), ca: CERTIFICATE }),
  });

  test("answers under its address and the names of its certificate, and no other", async () => {
    const { key } = await daemon.key("acme", "read");
    const ask = (wish: Wish) => daemon.send("GET", "/api/v1/jobs", { key, ...wish });
    expect((await ask({})).status).toBe(200);
    expect((await ask({ headers: { host: "localhost:1234" } })).status).toBe(200);
    expect((await ask({ headers: { host: "evil.test" } })).status).toBe(421);
  });

  test("says nothing to those who do not speak TLS", async () => {
    const port = Number(daemon.address.split(":").at(-1));
    const text = await new Promise<string>((resolve) => {
      const socket = net.connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      let heard = "";
      socket.on("data", (piece) => {
        heard += piece.toString("latin1");
      });
      socket.on("error", () => undefined).once("close", () => resolve(heard));
    });
    expect(text).not.toContain("HTTP/1.1 200");
    expect(text).not.toContain("kron");
  });
});

describe("behind a proxy", () => {
  const daemon = apiDaemon({ args: ["--api-behind-proxy", "kron.example.com", "--api-rate", "1000"] });

  test("its name is ours, and so are pages that it serves", async () => {
    const { key } = await daemon.key("acme", "read");
    const ask = async (headers: Wish["headers"] = {}) =>
      (await daemon.send("GET", "/api/v1/jobs", { key, headers })).status;
    expect(await ask({ host: "kron.example.com" })).toBe(200);
    expect(await ask({ host: "kron.example.com", origin: "https://kron.example.com" })).toBe(200);
    expect(await ask({ host: "kron.example.com", origin: "http://kron.example.com" })).toBe(403);
    expect(await ask({ host: "kron.example.com.evil.test" })).toBe(421);
  });

  test("wrong keys are counted for the address that the proxy names, and not for what a client says of itself", async () => {
    const ask = async (forwarded: string) =>
      (await daemon.send("GET", "/api/v1/jobs", { key: "wrong", headers: { "x-forwarded-for": forwarded } })).status;
    const statuses = [];
    for (let at = 0; at < 25; at++) statuses.push(await ask(`192.0.2.${at}, 198.51.100.7`));
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(await ask("198.51.100.7, 198.51.100.8")).toBe(401);
  });
});

describe("a socket of one's own", () => {
  const daemon = apiDaemon({
    api: "unix:ROOT/api.sock",
    place: (_address, root) => ({ socketPath: path.join(root, "api.sock") }),
  });
  const ask = (url: string, headers: Wish["headers"] = {}, more: Wish = {}) =>
    daemon.send("GET", `/api/v1${url}`, { headers: { host: "localhost", ...headers }, ...more });

  test("is its owner's alone, who needs no key and speaks for any tenant", async () => {
    expect(fs.statSync(path.join(daemon.root, "api.sock")).mode & 0o777).toBe(0o600);
    expect((await ask("/system")).status).toBe(200);
    expect((await ask("/limits")).body.tenant).toBe("default");
    expect((await ask("/limits", { "kron-tenant": "acme" })).body.tenant).toBe("acme");
    expect((await ask("/limits", { "kron-tenant": "A/../b" })).status).toBe(400);
  });

  test("what somebody forwards to it is not its owner's", async () => {
    const forwarded = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];
    for (const header of forwarded) expect((await ask("/system", { [header]: "192.0.2.1" })).status).toBe(401);
    const { key } = await daemon.key(null, "read");
    expect((await ask("/system", { "x-forwarded-for": "192.0.2.1" }, { key })).status).toBe(200);
  });

  test("one that a killed daemon has left is taken over", async () => {
    await daemon.crash();
    expect(fs.existsSync(path.join(daemon.root, "api.sock"))).toBe(true);
    await daemon.start();
    expect((await ask("/system")).status).toBe(200);
    expect(await daemon.krond.kill("SIGTERM")).toBe(0);
    expect(fs.existsSync(path.join(daemon.root, "api.sock"))).toBe(false);
  });
});

describe("bounds of connections", () => {
  const daemon = apiDaemon();

  test("half a request is answered with what is missing, and its connection ends", async () => {
    const { host, port } = placeOf(daemon.address);
    const halves = [
      "GET /api/v1/jobs HT",
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{",
    ];
    const heard = halves.map((half) => {
      return new Promise<string>((resolve) => {
        const socket = net.connect(port ?? 0, host, () => socket.write(half));
        let text = "";
        socket.on("data", (piece) => {
          text += piece.toString("latin1");
        });
        socket.on("error", () => undefined).once("close", () => resolve(text));
      });
    });
    const [head, body] = await Promise.all(heard);
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
    expect(head).toContain("request-timeout");
    // Nobody was named yet: who it is, is asked first.
    expect(body).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("so many connections, and no more", async () => {
    const { host, port } = placeOf(daemon.address);
    const sockets: net.Socket[] = [];
    const ends: Promise<boolean>[] = [];
    for (let at = 0; at < 300; at++) {
      const socket = net.connect(port ?? 0, host);
      sockets.push(socket);
      const isOpen = new Promise<boolean>((resolve) => {
        socket.on("error", () => resolve(false)).once("close", () => resolve(false));
        socket.once("data", () => resolve(true));
      });
      socket.write("GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
      ends.push(isOpen);
    }
    const open = (await Promise.all(ends)).filter((isOpen) => isOpen).length;
    for (const socket of sockets) socket.destroy();
    expect(open).toBeLessThanOrEqual(256);
    expect(open).toBeGreaterThan(200);
    // The daemon may not have heard yet that they are gone.
    const isAnswered = async (): Promise<boolean> => {
      const client = apiClient(placeOf(daemon.address));
      const answer = await client.send("GET", "/api/v1/openapi.json").catch(() => null);
      client.close();
      return answer?.status === 200;
    };
    await eventually(isAnswered, "somebody is let in again");
  });
});
