import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { expectNothingLeft, faultProject, passedIn } from "./world.ts";

describe("an agent that hangs", () => {
  test("has an end with the default settings", () => {
    const config = defaultConfig();

    expect(config.provider.timeout).toBe(1800);
    expect(config.verify.timeout).toBe(300);
    expect(config.maxRetries).toBe(3);
  });

  test("is ended after --timeout, each of its three times", async () => {
    const project = faultProject("cat > /dev/null; sleep 300");

    const { root, stderr } = await project.cli.args("run", "--timeout", "1").expectExit(3);

    expect(stderr.match(/agent worker: timed-out \(\[TIME\]\): /g)).toHaveLength(3);
    expect(stderr).toMatch(/\n  parked  US-001: .*(1 s|timed out).*\n/);
    expect(passedIn(root)).toEqual([]);
    await expectNothingLeft(project, root);
  });

  test("without reading its prompt is ended too", async () => {
    const project = faultProject("exec sleep 300");

    const { root } = await project.cli.args("run", "--timeout", "1", "--max-iterations", "1").expectExit(1);

    await expectNothingLeft(project, root);
  });
});

describe("a check that hangs", () => {
  test("is ended after verify.timeout and has failed", async () => {
    const project = faultProject("cat > /dev/null; touch a", {
      config: { maxRetries: 1, verify: { default: ["sleep 300"], timeout: 1 } },
    });

    const { root, stderr } = await project.cli.expectExit(3);

    expect(stderr).toContain("timed out after 1 s");
    await expectNothingLeft(project, root);
  });
});
