/** Bounds of the dispatcher, by name. */
export const DISPATCHER_LIMITS = {
  /** Requests that are ready and wait for their second, or for room. */
  armed: 100_000,
  /** How long a connection that nobody uses is kept: requests of one moment share it, those of the next minute do not. */
  idleMs: 2_000,
  /** Connections that nobody uses, over all. */
  idleConnections: 1_024,
  headBytes: 16 * 1024,
  /** Of one answer from a name server. */
  dnsTimeoutMs: 1_000,
  dnsTries: 2,
  dnsNames: 10_000,
  dnsLeastMs: 1_000,
  dnsMostMs: 60_000,
  /** How long it is remembered that there is no such name. */
  dnsMissingMs: 5_000,
  /** Looked up the system's way, which takes a thread each. */
  systemLookups: 2,
  addresses: 16,
  tlsProfiles: 1_000,
} as const;
