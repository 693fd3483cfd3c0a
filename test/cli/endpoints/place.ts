/** A real daemon, a server that answers its requests, and the commands that ask for both. */
import { KRON } from "../../../src/cli/commands/index.js";
import { type CliResult, runCaptured } from "../../support/cli.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../../support/krond.js";
import { job, placesIn } from "../../support/place.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { answer, type Hit, type WildServer, wildServers } from "../../support/wild-server.js";

export interface Desk {
  readonly root: string;
  readonly krond: RunningKrond;
  readonly server: WildServer;
  kron(...args: string[]): Promise<CliResult>;
  /** As somebody with these variables and this standard input. */
  kronWith(
    world: { readonly env?: Record<string, string>; readonly input?: string },
    ...args: string[]
  ): Promise<CliResult>;
  /** What `-o json` prints. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>;
}

/** What the server says: 503 below /bad, 204 below /idle, and else 200. */
function answered({ path }: Hit): readonly [status: number, body: string] {
  if (path.startsWith("/bad")) return [503, "come \u001b[31mback\nlater"];
  return path.startsWith("/idle") ? [204, ""] : [200, "thank you"];
}

export function desks(): () => Promise<Desk> {
  const programs = builtPrograms();
  const startKrond = krondProcesses(programs);
  const place = placesIn(temporaryDirectories(), programs);
  const servers = wildServers();
  return async () => {
    const server = await servers((socket, hit) => answer(socket, ...answered(hit)));
    const here = place(`${job("t/configured", "true")}http: { allow: ["127.0.0.1"] }\n`);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const kronWith: Desk["kronWith"] = ({ env = {}, input = "" }, ...args) =>
      runCaptured(KRON, [...args, "--state", here.state], { cwd: here.root, nowAt: Date.now(), env, input });
    const kron: Desk["kron"] = (...args) => kronWith({}, ...args);
    const json = async <T>(...args: string[]): Promise<T> => {
      const { exitCode, out, err } = await kron(...args, "-o", "json");
      if (exitCode !== 0) throw new Error(`kron ${args.join(" ")}: ${err}`);
      return JSON.parse(out) as T;
    };
    return { root: here.root, krond, server, kron, kronWith, json };
  };
}
