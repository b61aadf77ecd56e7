import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openRepository } from "../../../lib/git/open_repository.ts";
import { temporaryDirectory } from "../../../lib/host/files.ts";
import { verify } from "../../../lib/checks/verify.ts";
import { checkoutWorld, outcomeIn, printedIn, readyPlace } from "./checkout_world.ts";
import { commandsWith } from "../../fault/processes.ts";
import { needs } from "../../needs.ts";

/** Once bound over the root's path, once at a path of its own. */
const WAYS = [
  { way: "at the root's path", bubblewrap: true, options: needs("bubblewrap", "user namespaces") },
  { way: "at another path", bubblewrap: false, options: {} },
];

for (const { way, bubblewrap, options } of WAYS) {
  describe(`openCheckout() ${way}`, options, () => {
    test("a command sees HEAD on its branch, nothing uncommitted, and a clean status", async () => {
      await using world = await checkoutWorld({ files: { "a.txt": "one\n", ".gitignore": "out/\n" } }, bubblewrap);
      const checkout = await world.open();
      await world.write("a.txt", "two\n");
      await world.write("new.txt", "x\n");
      await world.write("out/x", "x\n");

      const place = await readyPlace(checkout);
      const seen = await printedIn(world.ralph, place, "pwd; cat a.txt; ls -A; git status --short --branch");

      expect(seen).toBe(
        `${bubblewrap ? world.root : checkout.tree}\none\n.git\n.gitignore\nREADME.md\na.txt\n## main`,
      );
      expect(place.namespace.kind).toBe(bubblewrap ? "full" : "elsewhere");
      if (bubblewrap) expect(place.namespace.reason).toBeNull();
      else expect(place.namespace.reason).toContain("bubblewrap: Creating new namespace failed");
      expect(place).toMatchObject({ commit: await world.git("rev-parse", "HEAD"), lost: [] });
    });

    test("it follows commits, branches, tags and a detached HEAD; deleted files are gone", async () => {
      await using world = await checkoutWorld({ files: { "a.txt": "one\n" } }, bubblewrap);
      const checkout = await world.open();
      await readyPlace(checkout);
      await rm(join(world.root, "a.txt"));
      await world.git("checkout", "-q", "-b", "topic");
      await world.write("b.txt", "b\n");
      await world.commit();
      await world.git("tag", "v1");

      const branch = await printedIn(world.ralph, await readyPlace(checkout), "git branch -a; git tag; ls");
      await world.git("checkout", "-q", "--detach", "main");
      const detached = await readyPlace(checkout);

      expect(branch).toBe("  main\n* topic\nv1\nREADME.md\nb.txt");
      expect(await printedIn(world.ralph, detached, "ls; git symbolic-ref -q HEAD || echo detached")).toBe(
        "README.md\na.txt\ndetached",
      );
    });

    test("what a check changes, commits or leaves in the git directory is gone with the next bring-up", async () => {
      await using world = await checkoutWorld({ files: { "a.txt": "one\n" } }, bubblewrap);
      const checkout = await world.open();
      const before = await world.git("rev-parse", "HEAD");
      const check = "echo two > a.txt; git -c user.name=x -c user.email=x@x commit -qam x; " +
        "git update-index --assume-unchanged README.md; echo x > README.md; touch -d 2001-01-01 README.md; echo '*' > .git/info/exclude; touch made";
      await outcomeIn(world.ralph, await readyPlace(checkout), check);

      const seen = await printedIn(world.ralph, await readyPlace(checkout), "cat a.txt README.md; ls; git ls-files -v");

      expect(await world.git("rev-parse", "HEAD")).toBe(before);
      expect(seen).toBe("one\n# x\nREADME.md\na.txt\nH README.md\nH a.txt");
    });

    test("what a check leaves in the tree is gone with the next bring-up, whatever its name is", async () => {
      await using world = await checkoutWorld({ files: { "d/a.txt": "one\n", ".gitignore": "*.log\n" } }, bubblewrap);
      const checkout = await world.open();
      const look = "find . -path ./.git -prune -o -print | sort";
      const before = await printedIn(world.ralph, await readyPlace(checkout), look);
      const leave =
        "mkdir -p e/f d/g; touch e/f/x d/new x.log; ln -s .. d/link; git init -q n; rm d/a.txt; mkdir d/a.txt";
      for (const more of ["", "; touch \"$(printf 'b\\377')\""]) {
        await outcomeIn(world.ralph, await readyPlace(checkout), `: ${more.length}; ${leave}${more}`);

        const again = `: ${more.length}; ${look}`;
        expect(await printedIn(world.ralph, await readyPlace(checkout), again)).toBe(before);
      }
    });

    test("filters, line ends, sparse patterns and odd names are as the repository has them", async () => {
      const attributes = "*.up filter=up\n*.crlf text eol=crlf\n*.wide text working-tree-encoding=UTF-16LE\n";
      await using world = await checkoutWorld({
        files: { ".gitattributes": attributes, "in/a b'ü\n.txt": "x\n", "out/a": "x\n", "a.crlf": "x\n" },
      }, bubblewrap);
      await world.git("config", "filter.up.clean", "tr A-Z a-z");
      await world.git("config", "filter.up.smudge", "tr a-z A-Z");
      await world.write("a.up", "SHOUTED\n");
      await world.commit();
      await world.git("sparse-checkout", "set", "in");
      const checkout = await world.open();

      const seen = await printedIn(
        world.ralph,
        await readyPlace(checkout),
        "cat a.up; od -c a.crlf | head -1; test -d out || echo sparse; ls in | wc -l; git status --short",
      );

      expect(seen).toBe("SHOUTED\n0000000   x  \\r  \\n\nsparse\n2");
    });

    test("a link that a check leaves in the place of a sparse folder is gone the next time, and what it led to stays", async () => {
      await using world = await checkoutWorld({ files: { "lib/y.txt": "y\n", "src/x.txt": "x\n" } }, bubblewrap);
      await world.git("sparse-checkout", "set", "lib");
      const checkout = await world.open();
      await printedIn(world.ralph, await readyPlace(checkout), "ln -s lib src");

      const seen = await printedIn(world.ralph, await readyPlace(checkout), "test -e src || cat lib/y.txt");

      expect(seen).toBe("y");
    });

    test("submodules known at the start are filled; a linked worktree and a folder of a repository are roots too", async () => {
      await using world = await checkoutWorld({ files: { "app/a.txt": "app\n" } }, bubblewrap);
      await using sub = await checkoutWorld({ files: { "s.txt": "sub\n" } });
      await world.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.root, "lib/sub");
      await world.commit();
      await using linked = await temporaryDirectory("linked");
      await world.git("worktree", "add", "-q", join(linked.path, "tree"), "-b", "side");
      const app = { ...world.ralph, root: join(world.root, "app") };
      const repository = (await openRepository(world.ralph.host, join(linked.path, "tree")))!;
      const side = { ...world.ralph, repository, root: repository.topLevel };
      const checkout = await world.open(app);
      const other = await world.open(side);

      const inApp = await printedIn(app, await readyPlace(checkout), "cat a.txt ../lib/sub/s.txt; git status --short");
      const inLinked = await printedIn(side, await readyPlace(other), "pwd; git branch --show-current");

      expect(inApp).toBe("app\nsub");
      expect(inLinked).toBe(`${bubblewrap ? repository.topLevel : other.tree}\nside`);
    });

    test("the environment shows nothing of who runs the check, and what it leaves behind is ended", async () => {
      await using world = await checkoutWorld({}, bubblewrap);
      await using pid = await temporaryDirectory("pid");
      const checkout = await world.open();
      const place = await readyPlace(checkout);
      const file = join(pid.path, "pid");

      const names = await printedIn(world.ralph, place, "env | cut -d= -f1");
      await outcomeIn(
        world.ralph,
        place,
        `setsid sh -c 'sleep 3417 & echo $! > ${file}; wait' > /dev/null 2>&1 & until [ -s ${file} ] || [ $((waits = waits + 1)) -gt 500 ]; do sleep 0.02; done`,
      );
      const sleeping = commandsWith("sleep 3417");

      expect(names.split("\n").filter((name) => /^(RALPH|GIT|BUN)/.test(name))).toEqual([]);
      expect(names.includes("INVOCATION_ID")).toBe(!bubblewrap);
      expect(sleeping).toEqual([]);
    });

    test("ignored folders are as they were before the first turn, and what a check does to them is undone", async () => {
      await using world = await checkoutWorld({ files: { ".gitignore": "node_modules\n.env\n" } }, bubblewrap);
      await world.write("node_modules/left/index.js", "one\n");
      await world.write("pkg/node_modules/right.js", "right\n");
      await world.write("pkg/a.txt", "a\n");
      await world.write(".env", "A=1\n");
      await world.commit();
      const checkout = await world.open();
      const place = await readyPlace(checkout);
      await world.write(".env", "A=2\n");
      const check = "cat node_modules/left/index.js pkg/node_modules/right.js .env; " +
        "echo two > node_modules/left/index.js; touch node_modules/made; rm pkg/node_modules/right.js";

      const seen = await printedIn(world.ralph, place, check);
      const inTree = await readFile(join(world.root, "node_modules/left/index.js"), "utf8");
      await world.commit();
      const again = await readyPlace(checkout);

      expect(seen).toBe("one\nright\nA=1");
      expect(inTree).toBe("one\n");
      expect(await printedIn(world.ralph, again, "cat node_modules/left/index.js; ls node_modules pkg/node_modules"))
        .toBe(
          "one\nnode_modules:\nleft\n\npkg/node_modules:\nright.js",
        );
      expect(again).toMatchObject({ dependencies: "as at the start", lost: [] });
      expect(again.copied).toEqual([".env", "node_modules", "pkg/node_modules"]);
    });

    test("an editable Python install tests the checkout and not the tree", needs("python3"), async () => {
      await using world = await checkoutWorld({
        files: { ".gitignore": ".venv\n", "src/thing.py": "raise SystemExit('stub')\n" },
      }, bubblewrap);
      execFileSync("python3", ["-m", "venv", "--without-pip", ".venv"], { cwd: world.root });
      const site = execFileSync(join(world.root, ".venv/bin/python"), [
        "-c",
        "import site; print(site.getsitepackages()[0])",
      ], {
        encoding: "utf8",
      }).trim();
      await writeFile(join(site, "__editable__.thing.pth"), `${world.root}/src\n`);
      await writeFile(
        join(world.root, ".venv/bin/thing"),
        `#!${world.root}/.venv/bin/python\nimport thing\nprint("ran")\n`,
      );
      await chmod(join(world.root, ".venv/bin/thing"), 0o755);
      const checkout = await world.open();
      await world.write("src/thing.py", "print('right')\n"); // never committed

      const seen = await outcomeIn(world.ralph, await readyPlace(checkout), ".venv/bin/thing");
      await world.commit();

      expect(seen).toMatchObject({ ok: false, tail: "stub" });
      expect(await printedIn(world.ralph, await readyPlace(checkout), ".venv/bin/thing")).toBe("right\nran");
    });

    test("an absolute link into the repository is the checkout's own; a new link that leads out is not ready", async () => {
      await using world = await checkoutWorld({ files: { "a.txt": "committed\n" } }, bubblewrap);
      await using outside = await temporaryDirectory("outside");
      await writeFile(join(outside.path, "x"), "x\n");
      await symlink(join(world.root, "a.txt"), join(world.root, "link"));
      await symlink(outside.path, join(world.root, "old"));
      await world.commit();
      const checkout = await world.open();
      await world.write("a.txt", "tree\n");

      const first = await printedIn(world.ralph, await readyPlace(checkout), "cat link");
      await symlink("old/x", join(world.root, "new"));
      await symlink(`../${basename(world.root)}/../${basename(outside.path)}/x`, join(world.root, "sideways"));
      await symlink("a.txt", join(world.root, "fine"));
      await symlink("circle", join(world.root, "circle"));
      await world.commit();

      expect(first).toBe("committed");
      const target = join(outside.path, "x");
      expect(await checkout.bringUp()).toEqual({
        status: "failed",
        reason: `new links lead out of the repository: new -> ${target}, sideways -> ${target}`,
      });
    });

    test("results are kept by tree and command; state files do not count", async () => {
      await using world = await checkoutWorld({}, bubblewrap);
      await using counted = await temporaryDirectory("counted");
      const checkout = await world.open({}, { state: ["state.json"] });
      const check = `echo x >> ${counted.path}/n; wc -l < ${counted.path}/n`;

      const printed: string[] = [];
      for (const path of ["state.json", "b.txt", "state.json"]) {
        printed.push(await printedIn(world.ralph, await readyPlace(checkout), check));
        await world.write(path, `${printed.length}\n`);
        await world.commit();
      }

      const together = await verify(world.ralph, ["echo built > built.txt", check], {
        place: await readyPlace(checkout),
      });
      const more = await verify(world.ralph, ["echo built > built.txt", "test -f built.txt"], {
        place: await readyPlace(checkout),
      });

      expect(printed.map((text) => text.trim())).toEqual(["1", "1", "2"]);
      expect(together.results[1]?.tail.trim()).toBe("3"); // the first one was not known yet
      expect(more.status).toBe("passed"); // the first one is known, and runs for the second all the same
    });

    test("functions are given the checkout's folder with the copies in it", async () => {
      await using world = await checkoutWorld({ files: { ".gitignore": "node_modules\n" } }, bubblewrap);
      await world.write("node_modules/a.js", "a\n");
      const checkout = await world.open();
      const place = await readyPlace(checkout);

      const checked = await verify(world.ralph, [($, { cwd }) => $`cat node_modules/a.js`.cwd(cwd)], { place });

      expect(checked.results[0]).toMatchObject({ ok: true, tail: "a" });
      expect(await place.directory()).toBe(checkout.tree);
    });

    test("a command that reaches docker gets the checkout at its own path, and a project of its own", async () => {
      await using world = await checkoutWorld({}, bubblewrap);
      const checkout = await world.open();

      const seen = await printedIn(
        world.ralph,
        await readyPlace(checkout),
        "pwd; echo $COMPOSE_PROJECT_NAME; : docker compose up",
      );

      expect(seen).toMatch(new RegExp(`^${checkout.tree}\ncheckout-[a-z0-9]{8}$`));
    });
  });
}

describe("openCheckout()", () => {
  test("starts 1 git process, and brings a checkout up to another commit with 4", async () => {
    await using world = await checkoutWorld();
    const { host } = world.ralph;
    let asked = 0;
    const processes = Object.assign(Object.create(host.processes) as typeof host.processes, {
      run(request: Parameters<typeof host.processes.run>[0]) {
        if (request.file === "git") asked += 1;
        return host.processes.run(request);
      },
    });
    const checkout = await world.open({ host: { ...host, processes } });
    const opened = asked;
    await readyPlace(checkout);
    const commit = await world.commit();
    asked = 0;

    expect((await checkout.bringUp(commit)).status).toBe("ready");
    expect([opened, asked]).toEqual([1, 4]);
  });

  test("refs whose commits are gone are left out; a shallow, borrowed or partial history comes as far as it goes", async () => {
    await using world = await checkoutWorld({ files: { "a.txt": "one\n" } });
    await world.write("a.txt", "two\n");
    await world.commit();
    await world.git("branch", "old", "HEAD~1");
    await world.write(".git/refs/heads/gone", `${"1".repeat(40)}\n`);
    const look = "git rev-list --count HEAD; git branch --format='%(refname:short)'; cat a.txt";
    expect(await printedIn(world.ralph, await readyPlace(await world.open()), look)).toBe("2\nmain\nold\ntwo");
    await rm(join(world.root, ".git/refs/heads/gone"));

    await world.git("config", "uploadpack.allowFilter", "true");
    for (
      const [given = "", from = "", count] of [["--depth=1", "file://", 1], ["--shared", "", 2], [
        "--filter=blob:none",
        "file://",
        1,
      ]] as const
    ) {
      await using clone = await checkoutWorld();
      await rm(clone.root, { recursive: true });
      execFileSync("git", ["clone", "-q", given, `${from}${world.root}`, clone.root]);
      const checkout = await clone.open();
      await readyPlace(checkout);

      expect(await printedIn(clone.ralph, await readyPlace(checkout), look)).toBe(`${count}\nmain\ntwo`);
    }
  });

  test("what git cannot do is a value with git's own line; so is a repository without a commit", async () => {
    await using world = await checkoutWorld();
    const checkout = await world.open();
    await rm(join(world.root, ".git/objects"), { recursive: true });
    await mkdir(join(world.root, ".git/objects"));

    const up = await checkout.bringUp("1".repeat(40));

    expect(up).toMatchObject({ status: "failed" });
    expect(up.status === "failed" ? up.reason : "").toMatch(/not our ref|bad object|did not send|remote/);
  });

  test("two processes at one repository do not share a checkout, and what is left of a repository that is gone goes", async () => {
    await using world = await checkoutWorld();
    const first = await world.open();
    const second = await world.open();
    await readyPlace(first);
    await readyPlace(second);
    await second[Symbol.asyncDispose]();

    expect(first.tree).not.toBe(second.tree);
    expect(existsSync(first.tree)).toBe(true);
    expect(existsSync(second.tree)).toBe(false);
    expect(first.tree).not.toMatch(/ralph(?!-loop)/);
  });
});
