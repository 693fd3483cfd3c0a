/** What keys may be good for, for help and completion, which load nothing else. */
import type { Scope } from "../operations/scope.js";

export const SCOPES = ["read", "write", "admin"] as const satisfies readonly Scope[];
