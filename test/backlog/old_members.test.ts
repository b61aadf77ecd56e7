import { expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { backlogContract } from "../../lib/testing/backlog_contract.ts";
import { testContext } from "../../lib/testing/test_context.ts";

test("a backlog of an earlier version is refused with the new name of each member, before its store is read", async () => {
  await using ralph = await testContext();
  const old = {
    ...memoryBacklog([]),
    overview: () => Promise.reject(new Error("read")),
    retries: 2,
    ended: async () => {},
  };
  const refused = {
    code: "backlog-invalid",
    message: expect.stringContaining(
      'instead of `ended`, `record()` of `"run-passed"`; instead of `retries`, `retries` of `policy`',
    ),
  };

  await expect(runLoop(ralph, old)).rejects.toMatchObject(refused);
  const [first] = backlogContract({ open: async () => ({ backlog: old, root: null, snapshot: async () => "" }) });
  await expect(first?.run()).rejects.toMatchObject(refused);
});
