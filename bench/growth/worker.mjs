/** One curve at one size, in a process of its own. Settings come as one JSON argument; the rounds go to standard output. */
import { CURVES } from "./curves.mjs";

const { bundle, directory, curve, size, rounds, roundMs } = JSON.parse(process.argv[2]);
const kron = await import(bundle);
const values = await CURVES[curve].measure({ kron, directory, size, rounds, roundMs });
process.stdout.write(JSON.stringify({ values }));
process.exit(0);
