import { acquireMemoryLock } from "../../src/persist/lock.js";
import { MemoryDisk } from "../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../src/persist/memory/store.js";
import { describeStoreContract } from "./store-contract.js";

let disks = 0;

describeStoreContract("memory", 20_000, () => {
  disks += 1;
  const disk = new MemoryDisk(`memory-${disks}`);
  return {
    acquire: async () => acquireMemoryLock(disk, disk.storeId),
    open: async (term) => openMemoryStore(term, disk),
  };
});
