import { expect, it } from "vitest";
import { verify } from "../../lib/checks/verify.ts";
import { openServices } from "../../lib/services/create_services.ts";
import { testContext } from "../../lib/testing/test_context.ts";
import { freePort, ITEMS, page, webApp } from "../e2e/feature_app.ts";
import { needs, SANDBOX } from "../needs.ts";

it(
  "a check in the sandbox reaches the services, also in a clean checkout",
  needs(...SANDBOX, "chromium"),
  async () => {
    const port = await freePort();
    await using ralph = await testContext({
      files: { ...webApp(port), "items.js": ITEMS, "page.html": page() },
      config: {
        sandbox: { mode: "required" },
        services: [{ name: "dev", start: "npm run --silent dev", ready: `http://127.0.0.1:${port}/healthz` }],
      },
    });
    await using services = openServices(ralph);
    await services.prepare();
    const checks = [...services.checks(), "npm run --silent e2e"];

    expect(await verify(ralph, checks)).toMatchObject({ status: "passed" });
    const isolated = { ...ralph, config: { ...ralph.config, verify: { ...ralph.config.verify, isolated: true } } };
    expect(await verify(isolated, checks)).toMatchObject({ status: "passed" });
    expect(ralph.recorded.find(({ type }) => type === "sandbox")).toMatchObject({ on: true });
  },
);

it("a check cannot write outside, in the tree or in a clean checkout", needs(...SANDBOX), async () => {
  await using ralph = await testContext({ files: { "a.txt": "a" }, config: { sandbox: { mode: "required" } } });
  const outside = `${ralph.host.environment.home}/.ralph-escape-${ralph.host.ids.random(8)}`;
  const checks = [
    `! (: > /etc/ralph-escape)`,
    `: > ${outside}`,
    "test ! -e .git/ralph/journal.jsonl || ! : >> .git/ralph/journal.jsonl",
  ];
  for (const isolated of [false, true]) {
    const config = { ...ralph.config, verify: { ...ralph.config.verify, isolated } };
    expect(await verify({ ...ralph, config }, checks)).toMatchObject({ status: "passed" });
    expect(await verify(ralph, [`test ! -e ${outside}`])).toMatchObject({ status: "passed" });
  }
  const { existsSync } = await import("node:fs");
  expect(existsSync(outside)).toBe(false);
});
