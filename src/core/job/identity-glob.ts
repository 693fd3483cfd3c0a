/** Patterns for identities: `*` stands for any text, slashes included, and `?` for one character. */

export type IdentityFilter = (identity: string) => boolean;

/** Any of several patterns. */
export function identityFilter(patterns: readonly string[]): IdentityFilter {
  return (identity) => patterns.some((pattern) => matchesGlob(pattern, identity));
}

/** In one pass with one way back, to the last star: no pattern makes it slow. */
export function matchesGlob(pattern: string, text: string): boolean {
  let [at, inPattern, afterStar, triedAt] = [0, 0, -1, 0];
  while (at < text.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      afterStar = ++inPattern;
      triedAt = at;
    } else if (wanted === "?" || wanted === text[at]) {
      at += 1;
      inPattern += 1;
    } else if (afterStar >= 0) {
      inPattern = afterStar;
      at = ++triedAt;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}
