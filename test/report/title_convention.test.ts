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

test("a title has the scope that the project uses for what was changed, and none where it has none for all of it", () => {
  const subjects = ["feat(cli): a", "fix(web): b", "chore(main): release 1", "feat(cli): c", "docs: d", "fix(Web): e"];
  const titled = (...paths: readonly string[]): string => {
    const changed = paths.map((path) => ({
      path,
      kind: path.startsWith("test/") ? "test" as const : "product" as const,
    }));
    return conventionalTitle("Add it", { ...about, files: changed, subjects });
  };
  expect(titled("packages/cli/a.ts", "packages/cli/b.ts", "test/web/a.test.ts")).toBe("feat(cli): add it");
  expect(titled("src/web.ts")).toBe("feat(web): add it");
  expect(titled("src/cli/a.ts", "src/web/b.ts")).toBe("feat: add it");
  expect(titled("src/main.ts")).toBe("feat: add it");
  expect(titled("test/web/a.test.ts")).toBe("test(web): add it");
});

test("a ticket of the goal or the branch comes first, as the project writes it", () => {
  const tickets = Array.from({ length: 6 }, (_, index) => `[SHOP-${index}] Do it`);
  const branch = "ralph/SHOP-12-cart";
  expect(conventionalTitle("Add a cart", { ...about, branch, subjects: tickets })).toBe("[SHOP-12] Add a cart");
  expect(conventionalTitle("Add a cart", { ...about, subjects: tickets })).toBe("Add a cart");
  const plain = tickets.map((subject) => subject.replace(/\[(.*)\]/, "$1:"));
  expect(conventionalTitle("Add a cart", { ...about, branch, subjects: plain })).toBe("SHOP-12: Add a cart");
});
