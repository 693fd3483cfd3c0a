/**
 * What our programs make has to stay usable by ourselves. A mask that takes bits from the owner (`umask 0177`) would make
 * a state directory that nobody can enter; what it takes from group and others stays taken.
 */
const OWNER_BITS = 0o700;
const STRICTEST = 0o777;

export function keepOwnBits(): void {
  // Asking for the mask without setting one is deprecated.
  process.umask(process.umask(STRICTEST) & ~OWNER_BITS);
}
