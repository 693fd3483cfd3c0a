import { openLmdbStore } from "../../src/persist/lmdb/open.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { describeStoreContract } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);

describeStoreContract("lmdb", 20_000, () => {
  const directory = newDirectory();
  return { acquire: () => acquireDirectoryLock(directory), open: openLmdbStore };
});
