import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { planFold } from "../../lib/git/fold.ts";
import { bringBackWork, stowWork } from "../../lib/git/stow.ts";
import { markingEnvironment } from "../../lib/git/turn_mark.ts";
import { gitIn } from "../repository.ts";
import { needs } from "../needs.ts";
import { type TemporaryRepository, temporaryRepository } from "./temporary_repository.ts";

interface Swap {
  readonly start: (repo: TemporaryRepository) => void;
  readonly change: (repo: TemporaryRepository) => void;
  /** Modes and paths afterwards. */
  readonly after: string;
}

function folderToLink({ path }: TemporaryRepository): void {
  renameSync(join(path, "src"), join(path, "lib"));
  symlinkSync("lib", join(path, "src"));
}

/** git does not take these by name: a folder, a link and a file in each other's place. */
const SWAPS: Readonly<Record<string, Swap>> = {
  "a folder became a link": {
    start: () => {},
    change: folderToLink,
    after: "100644 lib/a.txt\n100644 lib/deep/b.txt\n120000 src\n",
  },
  "a folder became a link out of the repository": {
    start: () => {},
    change: ({ path }) => {
      rmSync(join(path, "src"), { recursive: true });
      symlinkSync("..", join(path, "src"));
    },
    after: "120000 src\n",
  },
  "a link became a folder": {
    start: (repo) => {
      folderToLink(repo);
      repo.git("add", "-A");
      repo.git("commit", "-qm", "link");
    },
    change: ({ path }) => {
      rmSync(join(path, "src"));
      renameSync(join(path, "lib"), join(path, "src"));
    },
    after: "100644 src/a.txt\n100644 src/deep/b.txt\n",
  },
  "a folder became a file": {
    start: () => {},
    change: ({ path }) => {
      rmSync(join(path, "src"), { recursive: true });
      writeFileSync(join(path, "src"), "file\n");
    },
    after: "100644 src\n",
  },
};

async function swapped({ start, change }: Swap): Promise<TemporaryRepository> {
  const repo = await temporaryRepository({ "src/a.txt": "a\n", "src/deep/b.txt": "b\n" });
  start(repo);
  change(repo);
  return repo;
}

async function changedIn({ repository }: TemporaryRepository): Promise<readonly string[]> {
  return (await repository.status()).changed.map(({ path }) => path);
}

function committed({ git }: TemporaryRepository): string {
  return git("ls-tree", "-r", "HEAD", "--format=%(objectmode) %(path)");
}

describe.each(Object.entries(SWAPS))("%s", needs("a POSIX system"), (_name, swap) => {
  test("is committed whole", async () => {
    await using repo = await swapped(swap);

    await repo.repository.commit({ paths: await changedIn(repo), subject: "swap" });

    expect(committed(repo)).toBe(swap.after);
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  test("is committed whole where the turn has committed a part itself", async () => {
    await using repo = await swapped({ ...swap, change: () => {} });
    const onto = repo.git("rev-parse", "HEAD").trim();
    repo.write({ "more.txt": "more\n" });
    const turn = gitIn(repo.path, { ...process.env, ...await markingEnvironment(repo.repository) });
    turn("add", "more.txt");
    turn("commit", "-qm", "more");
    swap.change(repo);
    const head = repo.git("rev-parse", "HEAD").trim();
    const fold = await planFold(repo.repository, { start: onto, head, branch: "main" });

    await repo.repository.commit({ paths: await changedIn(repo), subject: "swap", fold: fold! });

    expect(committed(repo)).toContain(swap.after.trim().split("\n").at(-1));
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(repo.git("rev-parse", "HEAD^").trim()).toBe(onto);
  });

  test("is put away, and comes back", async () => {
    await using repo = await swapped(swap);
    const ref = "refs/ralph/work/1";
    const paths = await changedIn(repo);

    await stowWork(repo.repository, { ref, subject: "swap", fold: null, paths, without: [], mask: (text) => text });
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(readFileSync(join(repo.path, "src/a.txt"), "utf8")).toBe("a\n");

    expect(await bringBackWork(repo.repository, ref, {})).toMatchObject({ conflict: null });
    repo.git("add", "-A");
    repo.git("commit", "-qm", "back");
    expect(committed(repo)).toBe(swap.after);
  });
});

test(
  "a person's file in the folder that kept work makes a link of is a conflict",
  needs("a POSIX system"),
  async () => {
    await using repo = await swapped(SWAPS["a folder became a link"]!);
    const ref = "refs/ralph/work/1";
    const paths = await changedIn(repo);
    await stowWork(repo.repository, { ref, subject: "swap", fold: null, paths, without: [], mask: (text) => text });
    repo.write({ "src/mine.txt": "mine\n" });

    expect(await bringBackWork(repo.repository, ref, {})).toMatchObject({ conflict: "src" });

    expect(readFileSync(join(repo.path, "src/mine.txt"), "utf8")).toBe("mine\n");
    expect(readFileSync(join(repo.path, "src/a.txt"), "utf8")).toBe("a\n");
  },
);
