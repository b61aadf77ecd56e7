import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { needs } from "../needs.ts";
import { loopWorld, type World } from "./loop_world.ts";

const FILES = { "d/f.md": "first\n", "d/e/g.md": "first\n", "d/clean.md": "clean\n", "x.md": "first\n" };
const ITEMS = [{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }];

/** One item: a person's `setup`, then the agent's `turn` beside honest work. `$OUT` is a folder outside of the tree. */
async function ran(setup: string, turn: string): Promise<World & { readonly notes: string; readonly out: string }> {
  const at = (cwd: string): string => `${cwd}-out`;
  const world = await loopWorld(({ cwd, environment }) => {
    const env = { ...process.env, ...environment, OUT: at(cwd) };
    execFileSync("sh", ["-c", `${turn}; echo a > a.txt`], { cwd, env, stdio: "pipe" });
    return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
  }, { files: FILES });
  const out = at(world.root);
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  execFileSync("sh", ["-c", `mkdir -p "$OUT"; ${setup}`], { cwd: world.root, env: { ...process.env, OUT: out } });
  const run = await runLoop(world.ralph, memoryBacklog(ITEMS));
  expect(run).toMatchObject({ status: "passed", passed: ["a"] });
  const notes = world.events.flatMap((event) => event.type === "note" ? [event.message] : []).join("\n");
  return Object.assign(world, { notes, out });
}

test.each([
  ["removed", "git rm -q --cached d/f.md d/e/g.md"],
  ["moved away", "git mv -f d/f.md moved.md; git rm -q d/e/g.md"],
])("an entry of the index that a turn has %s is back, where a person had staged nothing", async (_, turn) => {
  await using world = await ran("echo mine >> d/f.md; rm d/e/g.md", turn);

  expect(await world.git("status", "--porcelain", "--", "d")).toBe(["D d/e/g.md", " M d/f.md"].join("\n"));
  expect(readFileSync(join(world.root, "d/f.md"), "utf8")).toBe("first\nmine\n");
  expect(world.notes).toContain("uncommitted work, which was restored: d/");
});

test("a file that is too large to be kept, and that a turn removes, is named at the end as lost", async () => {
  await using world = await ran("head -c 6000000 /dev/zero > large.bin; echo mine > small.txt", "rm large.bin");

  expect(world.notes).toMatch(/uncommitted changes stay as they are, .*: small\.txt\n/);
  expect(world.notes).toContain("if a turn changes or removes it: large.bin");
  expect(world.events.at(-1)).toMatchObject({
    type: "run-end",
    notices: expect.arrayContaining([{
      kind: "lost",
      subject: "large.bin",
      message: "the turn changed or removed it, and it was too large to be kept",
    }]),
  });
});

describe("a person's uncommitted work is restored, and nothing is written elsewhere", needs("a POSIX system"), () => {
  const DIRTY = "echo mine >> d/f.md; echo mine > d/new.md; echo mine > d/e/new.md";
  test.each([
    ["its folder became a link out of the tree", 'rm -rf d; ln -s "$OUT" d'],
    [
      "its folder became a link to one with the same file",
      'cp -r d/. "$OUT"; echo theirs > "$OUT/f.md"; rm -rf d; ln -s "$OUT" d',
    ],
    ["its folder became a file", "rm -rf d; echo x > d"],
    ["its folder became a file, which was committed", "rm -rf d; echo x > d; git add -A; git commit -qm swap"],
    ["a folder in its folder became a file", "rm -rf d/e; echo x > d/e; rm d/f.md d/new.md"],
    ["a folder is in its place", "rm d/f.md; mkdir d/f.md; echo x > d/f.md/x; rm d/new.md d/e/new.md"],
    ["its folder is gone", "rm -rf d"],
  ])("%s", async (name, turn) => {
    await using world = await ran(DIRTY, turn);

    const status = (await world.git("status", "--porcelain", "-uall", "--", "d")).split("\n").map((one) => one.trim());
    const kept = name === "its folder is gone"
      ? ["D d/clean.md", "D d/e/g.md"]
      : name.startsWith("a folder in")
      ? ["D d/e/g.md"]
      : [];
    expect(status.filter((one) => !kept.includes(one))).toEqual(["M d/f.md", "?? d/e/new.md", "?? d/new.md"]);
    expect(readFileSync(join(world.root, "d/f.md"), "utf8")).toBe("first\nmine\n");
    expect(await world.git("show", "HEAD:d/f.md")).toBe("first");
    expect(readdirSync(world.out).filter((file) => file === "new.md")).toEqual(
      name.includes("same file") ? ["new.md"] : [],
    );
    if (name.includes("same file")) expect(readFileSync(join(world.out, "f.md"), "utf8")).toBe("theirs\n");
    expect(world.notes).toContain("which was restored");
  });

  test.each([
    ["a folder that holds something", "rm d/new.md; mkdir d/new.md; echo x > d/new.md/x"],
    ["an empty folder", "rm d/new.md; mkdir d/new.md"],
    ["a folder that was committed", "rm d/new.md; mkdir d/new.md; echo x > d/new.md/x; git add -A; git commit -qm x"],
    ["a folder with the file", "mv d/new.md t; mkdir d/new.md; mv t d/new.md/old"],
    ["a folder, once the index was reset", "git reset -q --hard; rm -f d/new.md; mkdir d/new.md; echo x > d/new.md/x"],
    ["a named pipe", "rm d/new.md; mkfifo d/new.md"],
    ["a repository", "rm d/new.md; git init -q d/new.md"],
  ])("a file that git does not know, in the place of which is %s", async (name, turn) => {
    const staged = name.includes("index");
    const setup = staged ? "echo old > d/new.md; git add d/new.md; echo mine > d/new.md" : "echo mine > d/new.md";
    await using world = await ran(setup, turn);

    expect(lstatSync(join(world.root, "d/new.md")).isFile()).toBe(true);
    expect(readFileSync(join(world.root, "d/new.md"), "utf8")).toBe("mine\n");
    expect(await world.git("status", "--porcelain", "-uall", "--", "d")).toBe(
      staged ? "AM d/new.md" : "?? d/new.md",
    );
    expect(await world.git("ls-tree", "-r", "--name-only", "HEAD", "d")).not.toContain("new.md");
    expect(world.notes).toContain("which was restored: d/new.md");
    const aside = join(world.root, ".git/ralph/aside");
    expect(existsSync(aside), "nothing of the turn is lost").toBe(!/empty|pipe/.test(name));
  });

  test("a folder that the person has made a link stays one, and a file behind it stays", async () => {
    const setup = 'mv d/* "$OUT"; rmdir d; ln -s "$OUT" d; echo mine >> x.md';
    await using world = await ran(setup, 'git checkout -q x.md; rm "$OUT/clean.md"');

    expect(readFileSync(join(world.root, "x.md"), "utf8")).toBe("first\nmine\n");
    expect(existsSync(join(world.out, "f.md"))).toBe(true);
    expect(await world.git("status", "--porcelain", "d")).toContain("?? d");
    expect(world.notes).not.toMatch(/could not be restored|restored: .*d\//);
  });

  test("whatever its files are called", async () => {
    const names = ["p\nq", "p\rq", "end\r", '"quoted"', "back\\slash\n", "-dash", " blank "];
    const made = names.map((name) => `echo mine > './${name}'`).join("; ");
    await using world = await ran(`${made}; echo mine >> x.md`, "git checkout -q .; git clean -qfd");

    for (const name of [...names, "x.md"]) expect(readFileSync(join(world.root, name), "utf8")).toMatch(/mine\n$/);
    expect(world.notes).not.toMatch(/too large|could not be restored/);
  });
});
