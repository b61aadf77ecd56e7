/** What `npm run bench` measures in milliseconds is protected here by counts, which no busy machine changes. */
import { expect, test } from "vitest";
import { ARTEFACT } from "./cli.ts";
import { gitOf } from "../bench/iteration.mjs";

/** Git processes of one more iteration: two looks at the tree, lines changed, new files, the commit; feature commits twice. */
const MOST = { exec: 5, feature: 11, spec: 5, gsd: 6, sprint: 5 } as const;

test.skipIf(process.platform !== "linux").each(Object.entries(MOST))(
  "an iteration of %s starts no more than %i git processes",
  (workflow, most) => {
    const added = gitOf(ARTEFACT, workflow, 4) - gitOf(ARTEFACT, workflow, 2);

    expect(added).toBeGreaterThan(0);
    expect(added).toBeLessThanOrEqual(2 * most);
  },
  120_000,
);
