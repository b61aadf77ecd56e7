import { expect, test } from "vitest";
import { conventionalTitle } from "../../lib/report/title_convention.ts";

const files = [{ path: "src/a.ts", kind: "product" as const }];
const about = { branch: "ralph/shop-7", files };

test("a title has the form of the project's own subjects, and none where they have none", () => {
  const conventional = ["feat: add a", "fix(core): b", "docs: c", "chore!: d", "feat: e", "release 1.2"];
  expect(conventionalTitle("Add initials", { ...about, subjects: conventional })).toBe("feat: add initials");
  expect(conventionalTitle("Fix the API", { ...about, subjects: conventional })).toBe("fix: fix the API");
  expect(conventionalTitle("API for names", { ...about, subjects: conventional })).toBe("feat: API for names");
  expect(conventionalTitle("docs: say it", { ...about, subjects: conventional })).toBe("docs: say it");
  const readme = [{ path: "README.md", kind: "product" as const }];
  expect(conventionalTitle("Say it", { ...about, files: readme, subjects: conventional })).toBe("docs: say it");

  const none = ["Add a", "b", "feat: c", "Fix d", "e"];
  expect(conventionalTitle("Add initials", { ...about, subjects: none })).toBe("Add initials");
  const own = Array.from({ length: 9 }, (_, index) => `feat: US-00${index} - Add it`);
  expect(conventionalTitle("Add initials", { ...about, subjects: own })).toBe("Add initials");
});

test("a ticket of the goal or the branch comes first, as the project writes it", () => {
  const tickets = Array.from({ length: 6 }, (_, index) => `[SHOP-${index}] Do it`);
  const branch = "ralph/SHOP-12-cart";
  expect(conventionalTitle("Add a cart", { ...about, branch, subjects: tickets })).toBe("[SHOP-12] Add a cart");
  expect(conventionalTitle("Add a cart", { ...about, subjects: tickets })).toBe("Add a cart");
  const plain = tickets.map((subject) => subject.replace(/\[(.*)\]/, "$1:"));
  expect(conventionalTitle("Add a cart", { ...about, branch, subjects: plain })).toBe("SHOP-12: Add a cart");
});
