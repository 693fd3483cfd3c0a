export interface Sample {
  readonly minute: number;
  readonly values: Readonly<Record<string, number | null>>;
}

export const WARM_UP_SHARE: number;
export const ALLOWED: Readonly<Record<string, { readonly share: number; readonly more: number }>>;
export function slopeOf(points: readonly (readonly [number, number])[]): number;
export function pointsOf(samples: readonly Sample[], name: string): readonly (readonly [number, number])[];
export function grown(samples: readonly Sample[], slack?: number): readonly string[];
