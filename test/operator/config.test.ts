/** How a cluster is reached: kubeconfigs as kubectl reads them, over TLS, with every kind of credentials that is understood. */
import * as fs from "node:fs";
import type * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { KubeClient } from "../../src/operator/kube/client.js";
import { loadClusterConfig } from "../../src/operator/kube/config.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();
const pem = (name: string): Buffer => fs.readFileSync(path.join(import.meta.dirname, "fixtures", name));
const servers: http.Server[] = [];
const clients: KubeClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

/** Tells who is asking. */
async function tlsServer(): Promise<string> {
  const options = {
    key: pem("server-key.pem"),
    cert: pem("server.pem"),
    ca: pem("client.pem"),
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = https.createServer(options, (request, response) => {
    const peer = (request.socket as TLSSocket).getPeerCertificate();
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(
      JSON.stringify({ user: peer.subject?.CN ?? null, authorization: request.headers.authorization ?? null }),
    );
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function kubeconfig(cluster: unknown, user: unknown): string {
  const file = path.join(temporary(), "config");
  const text = {
    "current-context": "one",
    contexts: [{ name: "one", context: { cluster: "c", user: "u", namespace: "team" } }],
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
  };
  fs.writeFileSync(file, stringify(text));
  return file;
}

async function whoAmI(file: string): Promise<unknown> {
  const client = new KubeClient(loadClusterConfig({ kubeconfig: file }, { PATH: process.env["PATH"] }));
  clients.push(client);
  return client.send({ method: "GET", path: "/whoami", operation: "whoami" });
}

describe("reaching a cluster", () => {
  test("TLS with the cluster's own authority, and a client certificate", async () => {
    const server = await tlsServer();
    const data = (name: string): string => pem(name).toString("base64");
    const cluster = { server, "certificate-authority-data": data("server.pem") };
    const user = { "client-certificate-data": data("client.pem"), "client-key-data": data("client-key.pem") };
    expect(await whoAmI(kubeconfig(cluster, user))).toEqual({ user: "kron client", authorization: null });
  });

  test("a server that the authority did not sign is not talked to", async () => {
    const server = await tlsServer();
    const cluster = { server, "certificate-authority-data": pem("client.pem").toString("base64") };
    await expect(whoAmI(kubeconfig(cluster, { token: "t" }))).rejects.toMatchObject({ code: "cluster-unreachable" });
  });

  test("a token, a token in a file next to the kubeconfig, and one from a plugin", async () => {
    const server = await tlsServer();
    const cluster = { server, "certificate-authority-data": pem("server.pem").toString("base64") };
    expect(await whoAmI(kubeconfig(cluster, { token: "plain" }))).toMatchObject({ authorization: "Bearer plain" });
    const withFile = kubeconfig(cluster, { tokenFile: "token" });
    fs.writeFileSync(path.join(path.dirname(withFile), "token"), "from-file\n");
    expect(await whoAmI(withFile)).toMatchObject({ authorization: "Bearer from-file" });
    const printed = JSON.stringify({ status: { token: "from-plugin", expirationTimestamp: "2100-01-01T00:00:00Z" } });
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "echo", args: [printed] };
    expect(await whoAmI(kubeconfig(cluster, { exec }))).toMatchObject({ authorization: "Bearer from-plugin" });
  });

  test.each([
    ["a proxy", { server: "https://x", "proxy-url": "http://p" }, {}, "proxy-url is not supported"],
    [
      "an auth provider",
      { server: "https://x" },
      { "auth-provider": { name: "gcp" } },
      "auth-provider of a user is not supported",
    ],
    ["no address", { server: "nowhere" }, {}, "is no server address"],
    [
      "an old plugin",
      { server: "https://x" },
      { exec: { command: "x", apiVersion: "client.authentication.k8s.io/v1alpha1" } },
      "are not supported",
    ],
  ])("%s is refused by name", (_name, cluster, user, message) => {
    const file = kubeconfig(cluster, user);
    expect(() => loadClusterConfig({ kubeconfig: file }, {})).toThrow(message);
  });

  test("a context that is not there, and a file that is not there", () => {
    const file = kubeconfig({ server: "https://x" }, {});
    expect(() => loadClusterConfig({ kubeconfig: file, context: "two" }, {})).toThrow('no context "two"');
    expect(() => loadClusterConfig({ kubeconfig: "/nowhere/config" }, {})).toThrow("cannot be read");
    expect(loadClusterConfig({}, { KUBECONFIG: file })).toMatchObject({ namespace: "team" });
  });
});
