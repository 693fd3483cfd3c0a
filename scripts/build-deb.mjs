/**
 * Makes a Debian package of the packed npm package: programs and what they need in /usr/lib/kron, the unit, the manual,
 * completions, and an empty job file in /etc/krond.d.
 *
 *   node scripts/build-deb.mjs [--tarball kron-0.1.0.tgz] [--out DIR] [--compression xz|gzip|none]
 *
 * Without a tarball it packs this checkout. Dependencies are copied from node_modules of this checkout, so that their
 * versions are those of the lock file; native ones make the package one for this architecture. Nothing is downloaded.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const ARCHITECTURES = {
  x64: "amd64",
  arm64: "arm64",
  arm: "armhf",
  ppc64: "ppc64el",
  s390x: "s390x",
  riscv64: "riscv64",
};
const PROGRAMS = ["kron", "krond", "kron-operator"];
const SCRIPTS = ["postinst", "prerm", "postrm"];
const KIB = 1024;

class Failure extends Error {}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", maxBuffer: 64 * 2 ** 20, ...options });
  if (result.error?.code === "ENOENT") throw new Failure(`${command} is not installed`);
  if (result.status !== 0) throw new Failure(`${command} ${args[0]}: exit ${result.status}\n${result.stderr}`);
  return result.stdout;
}

function npm(args) {
  const path = process.env.npm_execpath;
  const [program, ...first] = path?.endsWith(".js") ? [process.execPath, path] : ["npm"];
  return run(program, [...first, ...args], { cwd: root });
}

function unpack(tarball, target) {
  mkdirSync(dirname(target), { recursive: true });
  const scratch = mkdtempSync(join(dirname(target), "unpack-"));
  run("tar", ["-xzf", tarball, "-C", scratch, "--no-same-owner"]);
  renameSync(join(scratch, "package"), target);
  rmSync(scratch, { recursive: true });
  if (!existsSync(join(target, "dist", "man", "kron.1"))) {
    throw new Failure(`${tarball} has no manual: pack it after 'npm run build'`);
  }
}

/** What `npm install --omit=dev` would bring, as it lies here; sources of what is compiled already are left out. */
function copyDependencies(target) {
  const paths = npm(["ls", "--omit=dev", "--all", "--parseable"]).split("\n");
  const inside = paths.map((path) => relative(root, path)).filter((path) => path.startsWith("node_modules"));
  if (inside.length === 0) throw new Failure("node_modules is empty: npm ci first");
  for (const path of inside) {
    const isOwn = (source) => {
      const rest = relative(join(root, path), source);
      return !/(^|\/)node_modules(\/|$)|\.map$|^(dependencies|src)(\/|$).*\.(c|cc|cpp|h|hpp)$/.test(rest);
    };
    cpSync(join(root, path), join(target, path), { recursive: true, filter: isOwn, dereference: false });
  }
}

function install(source, target, mode = 0o644) {
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(source, target);
  chmodSync(target, mode);
}

function zipped(source, target) {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(`${target}.gz`, gzipSync(readFileSync(source), { level: 9 }));
}

function layOut(tree) {
  const lib = join(tree, "usr/lib/kron");
  for (const name of PROGRAMS) {
    chmodSync(join(lib, "dist", `${name}.js`), 0o755);
    mkdirSync(join(tree, "usr/bin"), { recursive: true });
    symlinkSync(`../lib/kron/dist/${name}.js`, join(tree, "usr/bin", name));
  }
  for (const page of readdirSync(join(lib, "dist/man"))) {
    zipped(join(lib, "dist/man", page), join(tree, "usr/share/man/man1", page));
  }
  rmSync(join(lib, "dist/man"), { recursive: true });
  install(join(lib, "deploy/krond.service"), join(tree, "usr/lib/systemd/system/krond.service"));
  install(join(lib, "deploy/debian/jobs.yaml"), join(tree, "etc/krond.d/jobs.yaml"));
  const documents = join(tree, "usr/share/doc/kron");
  install(join(lib, "LICENSE"), join(documents, "copyright"));
  zipped(join(lib, "CHANGELOG.md"), join(documents, "changelog"));
  for (const name of readdirSync(join(lib, "docs"), { recursive: true })) {
    if (statSync(join(lib, "docs", name)).isFile()) install(join(lib, "docs", name), join(documents, name));
  }
  for (const name of ["docs", "README.md", "ARCHITECTURE.md", "CHANGELOG.md"])
    rmSync(join(lib, name), { recursive: true });
  completions(lib, tree);
}

function completions(lib, tree) {
  const places = { bash: "bash-completion/completions/kron", zsh: "zsh/vendor-completions/_kron" };
  for (const [shell, place] of Object.entries(places)) {
    const file = join(tree, "usr/share", place);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, run(process.execPath, [join(lib, "dist/kron.js"), "completion", shell]));
  }
  // bash looks for a file of the program's own name.
  symlinkSync("kron", join(tree, "usr/share/bash-completion/completions/krond"));
}

/** Modes as everybody may read them, whatever umask this runs under; the size on the way. */
function settle(path) {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return 1;
  if (!stat.isDirectory()) {
    chmodSync(path, (stat.mode & 0o111) === 0 ? 0o644 : 0o755);
    return Math.ceil(stat.size / KIB);
  }
  chmodSync(path, 0o755);
  return readdirSync(path).reduce((sum, name) => sum + settle(join(path, name)), 1);
}

function describe(tree, { version, architecture }) {
  const source = join(tree, "usr/lib/kron/deploy/debian");
  const size = settle(tree);
  const target = join(tree, "DEBIAN");
  mkdirSync(target, { mode: 0o755 });
  const control = readFileSync(join(source, "control.in"), "utf8");
  const fields = { VERSION: version, ARCHITECTURE: architecture, INSTALLED_SIZE: String(size) };
  writeFileSync(
    join(target, "control"),
    control.replace(/@(\w+)@/g, (_, name) => fields[name]),
    { mode: 0o644 },
  );
  for (const name of SCRIPTS) install(join(source, name), join(target, name), 0o755);
  writeFileSync(join(target, "conffiles"), "/etc/krond.d/jobs.yaml\n", { mode: 0o644 });
}

function main() {
  const { values } = parseArgs({
    options: {
      tarball: { type: "string" },
      out: { type: "string", default: "." },
      compression: { type: "string", default: "xz" },
    },
  });
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Failure(`Debian has no name for ${process.arch}`);
  const scratch = mkdtempSync(join(tmpdir(), "kron-deb-"));
  try {
    const tarball =
      values.tarball === undefined
        ? join(scratch, JSON.parse(npm(["pack", "--json", "--pack-destination", scratch]))[0].filename)
        : resolve(values.tarball);
    const tree = join(scratch, "tree");
    const lib = join(tree, "usr/lib/kron");
    unpack(tarball, lib);
    copyDependencies(lib);
    layOut(tree);
    // Debian sorts 1.0~rc.1 before 1.0.
    const version = JSON.parse(readFileSync(join(lib, "package.json"), "utf8")).version.replace("-", "~");
    describe(tree, { version, architecture });
    const file = join(resolve(values.out), `kron_${version}_${architecture}.deb`);
    run("dpkg-deb", ["--root-owner-group", `-Z${values.compression}`, "--build", tree, file]);
    process.stdout.write(`${file}\n`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

try {
  main();
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`build-deb: ${error.message}\n`);
  process.exitCode = 1;
}
