/** What a key or a login is good for; each of them can do what those before it can. */
export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];
