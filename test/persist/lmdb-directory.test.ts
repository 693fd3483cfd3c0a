import { DATA_FILE, LOCK_FILE } from "../../src/persist/lmdb/environment.js";
import { openLmdbStore } from "../../src/persist/lmdb/open.js";
import { describeDirectoryContract } from "./directory-contract.js";

describeDirectoryContract({ name: "lmdb", open: openLmdbStore, dataFile: DATA_FILE, files: [DATA_FILE, LOCK_FILE] });
