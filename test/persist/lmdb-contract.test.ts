import { BACKENDS } from "../../src/persist/backends.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { describeStoreContract } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);

describeStoreContract("lmdb", 20_000, () => {
  const directory = newDirectory();
  return { acquire: () => BACKENDS.lmdb.acquire(directory), open: BACKENDS.lmdb.open };
});
