/** The transcripts of docs/operator.md, by the real kubectl over the double: what the page shows is what one sees. */
import { execFile, execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { KronJobSpec } from "../../src/operator/kube/types.js";
import { TestCluster } from "../support/kube/cluster.js";
import { ScaledClock } from "../support/kube/scaled-clock.js";

const run = promisify(execFile);
/** Hours in seconds, and a deadline of half an hour that is still longer than a machine may be busy. */
const FACTOR = 900;
const START_AT = Date.UTC(2026, 2, 1, 1, 58, 0);

/** From this minor version on `explain` prints what the page shows. */
const EXPLAINS_BY_V3 = 29;

function hasKubectl(): boolean {
  try {
    const out = execFileSync("kubectl", ["version", "--client", "-o", "json"], { stdio: ["ignore", "pipe", "ignore"] });
    const { clientVersion } = JSON.parse(out.toString()) as { readonly clientVersion: { readonly minor: string } };
    return Number.parseInt(clientVersion.minor, 10) >= EXPLAINS_BY_V3;
  } catch {
    return false;
  }
}

let cluster: TestCluster | null = null;
let home = "";

beforeAll(async () => {
  if (!hasKubectl()) return;
  const it = await TestCluster.openDouble({ clock: new ScaledClock(FACTOR, START_AT) });
  cluster = it;
  it.kubelet.runOf = () => ({ ms: 90_000, isSuccess: true });
  home = fs.mkdtempSync(path.join(os.tmpdir(), "kron-kubectl-"));
  fs.writeFileSync(path.join(home, "config"), it.server?.kubeconfig ?? "");
  const { operator } = await it.operator();
  const { spec } = parse(fs.readFileSync("examples/operator/report.yaml", "utf8")) as { readonly spec: KronJobSpec };
  await it.create("report", spec);
  await it.until("report", ({ status }) => status?.lastSuccessfulTime !== undefined);
  await operator.stop();
});

afterAll(async () => {
  await cluster?.close();
  if (home !== "") fs.rmSync(home, { recursive: true, force: true });
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const namespace = cluster?.namespace ?? "";
  const env = { ...process.env, HOME: home, KUBECONFIG: path.join(home, "config") };
  const { stdout } = await run("kubectl", [...args, "--namespace", namespace], { env, encoding: "utf8" });
  return normal(stdout.replaceAll(namespace, "team-a"));
}

/** What is another each time: instants, ages, versions, uids, and the blanks that they move. */
function normal(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "INSTANT")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID")
    .replace(/report-[0-9a-f]{10}\b/g, "report-HASH")
    .replace(/\b[0-9a-f]{32,64}\b/g, "DIGEST")
    .replace(/Resource Version: +\d+/g, "Resource Version: N")
    .replace(/(^|[ (])(?:\d+[dhms])+(?=[ )]|$)/gm, "$1AGE")
    .replace(/AGE \(x\d+ over AGE\)/g, "AGE")
    .replace(/<unknown>|<invalid>/g, "AGE")
    .replace(/-{2,}/g, "--")
    .replace(/[ \t]+/g, " ")
    .replace(/ +$/gm, "")
    .trim();
}

/** The block of the page that begins with this command. */
function shown(command: string): string {
  const page = fs.readFileSync("docs/operator.md", "utf8");
  const start = page.indexOf(`$ ${command}\n`);
  if (start < 0) throw new Error(`docs/operator.md does not show ${command}`);
  const body = page.slice(start + command.length + 3);
  return normal(body.slice(0, body.search(/^(?:```|\$ )/m)));
}

describe("docs/operator.md shows what kubectl shows", () => {
  const commands = [
    "kubectl get kronjob report",
    "kubectl get kj report -o wide",
    "kubectl describe kronjob report",
    "kubectl explain kronjob.spec.window",
  ];
  const skipped = hasKubectl() ? "" : " (skipped: there is no kubectl of 1.29 or newer here)";

  test.runIf(hasKubectl()).each(commands)(`%s${skipped}`, async (command) => {
    expect(await kubectl(...command.split(" ").slice(1))).toBe(shown(command));
  });
});
