import { BACKENDS } from "../../src/persist/backends.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { describeStoreContract } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);

describeStoreContract("files", 1_050, () => {
  const directory = newDirectory();
  return { acquire: () => BACKENDS.files.acquire(directory), open: BACKENDS.files.open };
});
