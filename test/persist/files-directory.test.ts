import { META_FILE } from "../../src/persist/files/meta.js";
import { openFilesStore } from "../../src/persist/files/open.js";
import { documentKey } from "../../src/persist/keys.js";
import { describeDirectoryContract } from "./directory-contract.js";

describeDirectoryContract({
  name: "files",
  open: openFilesStore,
  dataFile: META_FILE,
  files: [META_FILE, documentKey("a")],
});
