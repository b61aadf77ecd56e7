import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { temporaryRepository } from "../../lib/testing/temporary_repository.ts";
import { testContext } from "../../lib/testing/test_context.ts";

describe("temporaryRepository()", () => {
  test("temporaryRepository() holds its files, committed, and is taken away when disposed", async () => {
    let path = "";
    {
      await using repository = await temporaryRepository({ files: { "deep/run.sh": "#!/bin/sh\necho hi\n" } });
      path = repository.path;

      expect(await repository.git("status", "--porcelain")).toBe("");
      expect(await repository.git("ls-files", "--stage")).toMatch(/^100755 .*deep\/run\.sh$/);
      expect(await repository.read("deep/run.sh")).toBe("#!/bin/sh\necho hi\n");
      expect(await repository.read("none")).toBeNull();
      await expect(repository.git("no-such-command")).rejects.toMatchObject({ code: "git-failed" });
    }
    expect(existsSync(path)).toBe(false);
  });
});

describe("testContext()", () => {
  test("testContext() runs a loop for real, with a scripted agent", async () => {
    await using ralph = await testContext({
      files: { "README.md": "hello\n" },
      agent: {
        turns: [
          { match: "a.txt", write: { "a.txt": "wrong\n" }, say: "<ralph>DONE</ralph>" },
          { match: ["a.txt", "failed"], write: { "a.txt": "right\n" }, say: "<ralph>DONE</ralph>" },
        ],
      },
    });
    const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["grep -q right a.txt"] }]);

    const run = await runLoop(ralph, backlog);

    expect(run.status).toBe("passed");
    expect(await ralph.tree.read("a.txt")).toBe("right\n");
    expect(ralph.recorded.filter((event) => event.type === "check-end").map((event) => event.ok)).toEqual([
      false,
      true,
      true, // the final check
    ]);
  });
});
