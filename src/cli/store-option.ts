/** The store that `--store` asks for. Apart from the directory: whoever asks for that alone loads no backend. */
import { type StorePlace, storePlace } from "../persist/backends.js";
import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { stateDirectoryOf } from "./state-options.js";

export function storePlaceOf(args: ParsedArgs, io: CliIo): StorePlace {
  const place = storePlace(args.text("store"), stateDirectoryOf(args, io));
  if (!place.ok) throw usageError(`--store: ${place.error.message}`, place.error.hint);
  return place.value;
}
