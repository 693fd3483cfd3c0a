/** What the benchmark of databases needs of Kron, bundled where it runs: the store, and the transitions of a run. */
export { storePlace } from "../../src/persist/backends.js";
export { documentKeyOf, transitionsOf } from "../krond/store-entry.js";
