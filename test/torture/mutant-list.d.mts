export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly search: string;
  readonly replace: string;
  readonly tests: readonly string[];
  readonly quick?: boolean;
  readonly needsRoot?: boolean;
}

export const MUTANTS: readonly Mutant[];
