/** Cards that this life has drawn: what an earlier one left is drawn once more. */

export interface Redraws {
  /** True the first time. */
  first(id: string): boolean;
}

export function createRedraws(): Redraws {
  const seen = new Set<string>();
  return {
    first: (id) => {
      if (seen.has(id)) return false;
      seen.add(id);
      return true;
    },
  };
}
