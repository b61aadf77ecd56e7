import type { Attempt } from "../../backlog/types.ts";

/** Its name among an attempt's results. */
export const UNSEEN_CHECK = "unseen check";

/** Whether an attempt failed by its unseen check. Pure. */
export function failedUnseenCheck({ verification }: Attempt): boolean {
  return verification?.results.some(({ name, ok }) => name === UNSEEN_CHECK && !ok) ?? false;
}
