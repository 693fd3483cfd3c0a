import { openFilesStore } from "../../src/persist/files/open.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { describeStoreContract } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);

describeStoreContract("files", 1_050, () => {
  const directory = newDirectory();
  return { acquire: () => acquireDirectoryLock(directory), open: openFilesStore };
});
