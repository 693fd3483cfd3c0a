import { openFilesStore } from "../../src/persist/files/open.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { temporaryDirectories } from "../support/temporary.js";
import { describeStoreContract } from "./store-contract.js";

const newDirectory = temporaryDirectories();

describeStoreContract("files", 1_050, () => {
  const directory = newDirectory();
  return { acquire: () => acquireDirectoryLock(directory), open: openFilesStore };
});
