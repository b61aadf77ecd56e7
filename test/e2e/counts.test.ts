/** `npm run bench` measures these in milliseconds; here counts protect them, which no busy machine changes. */
import { expect, test } from "vitest";
import { ARTEFACT } from "./cli.ts";
import { gitOf } from "../bench/iteration.mjs";
import { needs } from "../needs.ts";

/** Git processes of one more iteration: two looks at the tree, new files, the commit; feature commits state apart. */
const MOST = { exec: 4, feature: 5, spec: 4, gsd: 4, sprint: 4 } as const;

test.each(Object.entries(MOST))(
  "an iteration of %s starts no more than %i git processes",
  needs("Linux"),
  (workflow, most) => {
    const added = gitOf(ARTEFACT, workflow, 4) - gitOf(ARTEFACT, workflow, 2);

    expect(added).toBeGreaterThan(0);
    expect(added).toBeLessThanOrEqual(2 * most);
  },
);

/** Four of them are the item's, and four make two clean checkouts: one packs, one indexes, and each is laid in by one. */
test("a run of one item starts no more than 19 git processes, two clean checkouts among them", needs("Linux"), () => {
  const all = gitOf(ARTEFACT, "exec", 1);

  expect(all).toBeGreaterThan(0);
  expect(all).toBeLessThanOrEqual(19);
});

test("a run with nothing to do starts no more than 8 git processes", needs("Linux"), () => {
  const all = gitOf(ARTEFACT, "exec", 1, 2);

  expect(all).toBeGreaterThan(0);
  expect(all).toBeLessThanOrEqual(8);
});
