import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";
import { freePort } from "./feature_app.ts";
import { ACCEPT, feature, story } from "./feature_project.ts";

const UI = story("US-001", { tags: ["ui"], acceptanceCriteria: ["It works"] });
const WORK = `${ACCEPT} *) echo "$prompt" >> ../prompts.txt; count turns >/dev/null; echo good > US-001.txt; done_;;`;

describe("servers before the first turn", { timeout: 180_000 }, () => {
  test("a server that somebody else has to run and that is down: exit 3, and no turn is paid for", async () => {
    const ready = `http://127.0.0.1:${await freePort()}/`;
    const services = [{ name: "dev", ready, readyTimeout: 1 }];

    const { stderr, read } = await feature(WORK, [UI], { services }).args("run", "auth").expectExit(3);

    expect(stderr).toContain("error: service dev cannot be used: ");
    expect(stderr).toContain("connection refused");
    expect(read("../state/turns")).toBeNull();
  });

  test("a `start` that does not exist: exit 3, and no turn is paid for", async () => {
    const ready = `http://127.0.0.1:${await freePort()}/`;
    const services = [{ name: "dev", start: "no-such-server --port 1", ready, readyTimeout: 5 }];

    const { stderr, read } = await feature(WORK, [UI], { services }).args("run", "auth").expectExit(3);

    expect(stderr).toContain("ended with exit code 127");
    expect(read("../state/turns")).toBeNull();
  });

  test("the first ui story's agent has its server, and knows where; checks of servers and pages say what they look at", async () => {
    const port = await freePort();
    const ready = `http://127.0.0.1:${port}/`;
    const start = `node -e "require('http').createServer((q,r)=>r.end('hi')).listen(${port})"`;
    const branches =
      `${ACCEPT} *) echo "$prompt" > ../prompt.txt; node -e "fetch('${ready}').then((r)=>r.text()).then((t)=>require('fs').writeFileSync('../seen.txt',t))"; echo good > US-001.txt; done_;;`;
    const config = { services: [{ name: "dev", start, ready, readyTimeout: 20 }], browser: { enabled: false } };

    const { read } = await feature(branches, [UI], config).args("run", "auth").expectExit(0);

    expect(read("../seen.txt")).toBe("hi");
    const prompt = read("../prompt.txt") ?? "";
    expect(prompt).toContain(`The server dev runs now, at ${ready}.`);
    expect(prompt).toContain(`- service dev: answers at ${ready}, started afresh`);
  });

  test("a ui story of which no page can be opened is named before the first turn", async () => {
    const { stderr } = await feature(WORK, [UI]).args("run", "auth").expectExit(0);

    expect(stderr).toMatch(/warning: no page is opened for US-001: there is no service .*\n[^]*story US-001/);
  });
});

describe("after VERIFIED", { timeout: 180_000 }, () => {
  test("status says that files have changed since, and a run checks once more", async () => {
    const first = await feature(WORK, [story("US-001")]).args("run", "auth").expectExit(0);
    const same = await ralphCli(first.root).args("status", "auth").expectExit(0);
    writeFileSync(join(first.root, "US-001.txt"), "bad\n");
    first.git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "--all", "-m", "break");
    const changed = await ralphCli(first.root).args("status", "auth").expectExit(0);
    const again = await ralphCli(first.root).args("run", "auth").expectExit(0);

    expect(same.stdout).toMatch(/^VERIFIED [-\d]+ [:\d]+$/m);
    expect(changed.stdout).toMatch(/^VERIFIED .*, and 1 file has changed since$/m);
    expect(changed.stdout).toContain("`ralph run auth` checks it once more");
    expect(again.stderr).toContain("story US-001: verified"); // it was sent back, and done again
  });
});
