import { describe, expect, test } from "vitest";
import type { CheckOutcome } from "../../../lib/backlog/types.ts";
import { classifyClean, type CleanFinding } from "../../../lib/checks/checkout/classify.ts";
import { whatCleanCan } from "../../../lib/checks/checkout/what_clean_can.ts";
import { reachesDaemon } from "../../../lib/checks/checkout/reaches_daemon.ts";
import { checkoutWorld } from "./checkout_world.ts";

const ABSENT = ["packages/app/dist", "fixtures.db", "build"];
const GREEN = outcome(0);

function outcome(exitCode: number | null, tail = "", rest: Partial<CheckOutcome> = {}): CheckOutcome {
  return { ok: exitCode === 0, exitCode, tail, ...rest };
}

function missing(path: string): CleanFinding {
  return { status: "notReproducible", because: { kind: "missing", path } };
}

describe("classifyClean()", () => {
  test.each<[string, CheckOutcome, CheckOutcome | null, CleanFinding]>([
    ["green in the checkout", GREEN, null, { status: "green" }],
    ["red in both", outcome(1, "expected 2"), outcome(1, "expected 2"), { status: "red" }],
    ["red in both, though the output has the word", outcome(1, "npm run build failed"), outcome(1), { status: "red" }],
    ["red in both, a longer name", outcome(1, "open rebuild/x, my-fixtures.db2"), outcome(1), { status: "red" }],
    ["a program that is found nowhere", outcome(127), outcome(127), { status: "red" }],
    ["no end in time", outcome(null, "", { timedOut: true }), null, { status: "timedOut" }],
    ["green in the tree", outcome(1, "expected 2"), GREEN, {
      status: "notReproducible",
      because: { kind: "passes-in-the-tree" },
    }],
    ["a program that only the tree has", outcome(127, "nope"), outcome(1), {
      status: "notReproducible",
      because: { kind: "not-run", exitCode: 127 },
    }],
    ["may be run in the tree only", outcome(126), GREEN, {
      status: "notReproducible",
      because: { kind: "not-run", exitCode: 126 },
    }],
    ["names a folder", outcome(1, "/r/packages/app/dist/index.js missing"), outcome(1), missing("packages/app/dist")],
    ["names a file", outcome(1, "ENOENT: 'fixtures.db'"), outcome(1), missing("fixtures.db")],
    ["names a file at the end of a sentence", outcome(1, "cannot open fixtures.db."), GREEN, missing("fixtures.db")],
    ["names a bare word as a path", outcome(1, "cp: ./build/x"), outcome(1), missing("build")],
    [
      "says of a bare word that it is missing",
      outcome(1, "ls: cannot access build: No such file"),
      GREEN,
      missing("build"),
    ],
  ])("%s", (_, clean, tree, finding) => {
    expect(classifyClean(clean, tree, ABSENT)).toEqual(finding);
  });
});

describe("reachesDaemon()", () => {
  test.each([
    ["docker compose up -d", true],
    ["cd app && podman run x", true],
    ["/usr/bin/kubectl get pods", true],
    ["FOO=1 ssh host true", true],
    ["npm test -- docker.test.ts", false],
    ["cat ssh-config dockerfile", false],
    ["npm run lint:docker-image", false],
  ])("%s: %s", (command, reaches) => {
    expect(reachesDaemon(command)).toBe(reaches);
  });
});

describe("whatCleanCan()", () => {
  test("runs in the tree only what is red in the checkout, and says of each what a clean checkout can do", async () => {
    await using world = await checkoutWorld({
      files: { ".gitignore": "dist\nnode_modules\ntool\n" },
      config: { verify: { timeout: 3, isolated: true } },
    });
    await world.write("dist/out.js", "x\n");
    await world.write("node_modules/a.js", "a\n");
    await world.write("untracked.txt", "x\n");
    await using checkout = await world.open();
    const checks = [
      "test -f node_modules/a.js",
      "cat dist/out.js",
      "test -f untracked.txt",
      "echo red; false",
      "sleep 30",
      { name: "function", run: async () => ({ ok: true, exitCode: null, tail: "" }) },
    ];

    const found = await whatCleanCan(world.ralph, checkout, checks);

    expect(found.status === "checked" && found.checks.map(({ finding }) => finding)).toEqual([
      { status: "green" },
      missing("dist"),
      { status: "notReproducible", because: { kind: "passes-in-the-tree" } },
      { status: "red" },
      { status: "timedOut" },
      { status: "green" },
    ]);
    const started = world.world.events.filter(({ type }) => type === "check-start");
    expect(started).toHaveLength(9);
  });

  test("without a commit there is nothing to check in", async () => {
    await using world = await checkoutWorld();
    await world.git("update-ref", "-d", "HEAD");
    await using checkout = await world.open();

    expect(await whatCleanCan(world.ralph, checkout, ["true"])).toEqual({
      status: "unavailable",
      up: { status: "nothing-committed" },
    });
  });
});
