/** R14: TLS with a certificate authority of one's own and client certificates; whoever cannot be verified gets nothing. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requestArm, testDispatchers } from "../../support/requests.js";
import { WELL, wildServers } from "../../support/wild-server.js";

const dispatcher = testDispatchers();
const server = wildServers();
const HOME = path.resolve(import.meta.dirname, "../../../node_modules/.cache/kron-test", `tls-${process.pid}`);
const file = (name: string): string => path.join(HOME, name);
const text = (name: string): string => fs.readFileSync(file(name), "utf8");

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { cwd: HOME, stdio: "ignore" });
}

function authority(name: string): void {
  const subject = ["-subj", `/CN=${name}`, "-days", "30"];
  openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", `${name}.key`, "-out", `${name}.pem`, ...subject);
}

function certificate(name: string, by: string, names: string): void {
  fs.writeFileSync(file(`${name}.ext`), `subjectAltName=${names}\n`);
  openssl(
    "req",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.csr`,
    "-subj",
    `/CN=${name}`,
  );
  const signed = ["-CA", `${by}.pem`, "-CAkey", `${by}.key`, "-CAcreateserial", "-extfile", `${name}.ext`];
  openssl("x509", "-req", "-in", `${name}.csr`, ...signed, "-days", "30", "-out", `${name}.pem`);
}

beforeAll(() => {
  fs.mkdirSync(HOME, { recursive: true });
  authority("ca");
  authority("stranger");
  certificate("server", "ca", "IP:127.0.0.1,DNS:hooks.example");
  certificate("elsewhere", "ca", "DNS:elsewhere.example");
  certificate("client", "ca", "DNS:client");
});
afterAll(() => fs.rmSync(HOME, { recursive: true, force: true }));

const served = (name: string) => ({ cert: text(`${name}.pem`), key: text(`${name}.key`) });

describe("requests over TLS", () => {
  test("an authority of one's own is trusted, and the time for securing is told", async () => {
    const { url, hits } = await server(WELL, served("server"));
    const { ending } = await dispatcher().run(requestArm({ url, ca_file: file("ca.pem") }));
    expect(ending).toMatchObject({ kind: "answered", status: 200, timings: { tlsMs: expect.any(Number) } });
    expect(hits.length).toBe(1);
  });

  test("the name counts, not the address that it was looked up to", async () => {
    const wild = await server(WELL, served("server"));
    const resolver = { resolve: async () => ({ ok: true as const, value: ["127.0.0.1"] }) };
    const requests = dispatcher({ resolver });
    const to = (name: string) => requestArm({ url: `https://${name}:${wild.port}/`, ca_file: file("ca.pem") });
    expect((await requests.run(to("hooks.example"))).ending).toMatchObject({ kind: "answered", status: 200 });
    const { ending } = await requests.run(to("elsewhere.example"));
    expect(ending).toMatchObject({ kind: "failed", reason: "tls-failed", isSent: false });
    expect(wild.hits.map(({ headers }) => headers["host"])).toEqual([`hooks.example:${wild.port}`]);
  });

  test.each<[string, string, string | null]>([
    ["an authority that nobody trusts", "server", null],
    ["another authority", "server", "stranger.pem"],
    ["a certificate of another name", "elsewhere", "ca.pem"],
  ])("%s: nothing is sent", async (_, name, ca) => {
    const { url, hits } = await server(WELL, served(name));
    const { ending } = await dispatcher().run(requestArm({ url, ...(ca === null ? {} : { ca_file: file(ca) }) }));
    expect(ending).toMatchObject({ kind: "failed", reason: "tls-failed", isSent: false });
    expect(hits).toEqual([]);
  });

  test("where nobody speaks TLS that is said, and nothing of the library's insides", async () => {
    const plain = net.createServer((socket) =>
      socket.on("error", () => undefined).end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    );
    await once(plain.listen(0, "127.0.0.1"), "listening");
    const { port } = plain.address() as net.AddressInfo;
    const { ending } = await dispatcher().run(requestArm({ url: `https://127.0.0.1:${port}/` }));
    plain.close();
    expect(ending).toMatchObject({ kind: "failed", reason: "tls-failed", isSent: false });
    expect((ending as { readonly detail: string }).detail).toMatch(/^[a-z0-9 ]+ \(ERR_SSL_[A-Z0-9_]+\)$/);
  });

  test("a client certificate is shown to whoever asks; without one nothing is received", async () => {
    const asking = { ...served("server"), ca: text("ca.pem"), requestCert: true, rejectUnauthorized: true };
    const { url, hits } = await server(WELL, asking);
    const requests = dispatcher();
    const bare = await requests.run(requestArm({ url, ca_file: file("ca.pem") }));
    expect([bare.ending.kind, hits.length]).toEqual(["failed", 0]);
    // What a server says after the connection is secured comes from the library as well.
    expect((bare.ending as { readonly detail: string }).detail).not.toMatch(/:error:|\.c:\d/);
    const own = { client_cert_file: file("client.pem"), client_key_file: file("client.key") };
    const known = await requests.run(requestArm({ url, ca_file: file("ca.pem"), ...own }));
    expect(known.ending).toMatchObject({ kind: "answered", status: 200 });
    expect(hits.length).toBe(1);
  });

  test("S24: certificates that cannot be read or used are refused before the claim", async () => {
    fs.writeFileSync(file("broken.pem"), "nonsense");
    const refused = (http: object) => dispatcher().port.arm(requestArm({ url: "https://127.0.0.1/", ...http }));
    for (const http of [
      { ca_file: file("missing.pem") },
      { client_cert_file: file("broken.pem"), client_key_file: file("client.key") },
      { client_cert_file: file("client.pem"), client_key_file: file("server.key") },
    ]) {
      expect(await refused(http)).toMatchObject({ ok: false, error: { code: "secret-unreadable" } });
    }
  });

  test("a server that does not speak TLS: nothing is sent", async () => {
    const { port } = await server((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const { ending } = await dispatcher().run(requestArm({ url: `https://127.0.0.1:${port}/`, timeout: "500ms" }));
    expect(ending).toMatchObject({ kind: "failed", isSent: false });
  });
});
