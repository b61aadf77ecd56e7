/** `ralph mcp` with the official client, and the skill files. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CrashProject, crashProject } from "../fault/crash/projects.ts";
import { runProgram } from "../fault/crash/run_program.ts";
import { ralphProgram } from "../fault/program.ts";

async function connected({ root, environment }: CrashProject): Promise<Client> {
  const [command, ...args] = [...ralphProgram(), "mcp"];
  const client = new Client({ name: "test", version: "1.0.0" });
  const env = Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) => value === undefined ? [] : [[key, value]]),
  );
  await client.connect(new StdioClientTransport({ command, args, cwd: root, env, stderr: "inherit" }));
  return client;
}

async function call(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const text = (content as readonly { readonly text?: string }[]).map((part) => part.text ?? "").join("\n");
  return { text, isError: isError === true };
}

async function until(client: Client, name: string, pattern: RegExp): Promise<string> {
  await expect.poll(async () => (await call(client, name)).text, { interval: 500 }).toMatch(pattern);
  return (await call(client, name)).text;
}

test("the tools of `ralph mcp` look, run and report as the commands do", async () => {
  const project = crashProject("exec", "committed");
  writeFileSync(join(project.root, "ralph.config.json"), JSON.stringify({ provider: { command: "worker" } }));
  const client = await connected(project);
  try {
    expect(client.getInstructions()).toContain("start a run"); // all that codex shows its model of it at first
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      ["status", "plan", "run", "gate", "tell", "pause", "resume", "stop", "report"],
    );
    expect(await call(client, "status")).toMatchObject({ text: expect.stringContaining("US-001"), isError: false });
    expect(await call(client, "tell", { text: "hurry" })).toMatchObject({ isError: true });
    expect(await call(client, "plan", { goal: "" })).toMatchObject({ isError: true });

    expect((await call(client, "run")).isError).toBe(false);
    await until(client, "report", /: passed/);
    expect(project.turns()).toHaveLength(3);
  } finally {
    await client.close();
    project.remove();
  }
});

test("a run that was started there ends with its client, and can be continued", async () => {
  const project = crashProject("exec", "committed");
  const slow = join(project.folder, "bin/slow");
  writeFileSync(slow, `#!/bin/sh\necho $$ > ${join(project.folder, "log/pid")}\nsleep 600\n`, { mode: 0o755 });
  writeFileSync(join(project.root, "ralph.config.json"), JSON.stringify({ provider: { command: slow } }));
  const client = await connected(project);
  try {
    expect(await call(client, "run")).toMatchObject({ text: expect.stringContaining("started") });
    expect(await call(client, "run")).toMatchObject({ isError: true });
    expect(await call(client, "tell", { text: "hurry" })).toMatchObject({ isError: false });
    const pid = Number(readFileSync(join(project.folder, "log/pid"), "utf8"));
    await client.close();

    await comes(() => !existsSync(`/proc/${pid}`));
  } finally {
    project.remove();
  }
});

/** A project whose agent notes its process and does nothing until it is ended. */
async function withSlowAgent(): Promise<
  { readonly client: Client; readonly pid: () => number; readonly project: CrashProject }
> {
  const project = crashProject("exec", "committed");
  const slow = join(project.folder, "bin/slow");
  const noted = join(project.folder, "log/pid");
  writeFileSync(slow, `#!/bin/sh\necho $$ > ${noted}\nsleep 600\n`, { mode: 0o755 });
  writeFileSync(join(project.root, "ralph.config.json"), JSON.stringify({ provider: { command: slow } }));
  const pid = (): number => existsSync(noted) ? Number(readFileSync(noted, "utf8")) : 0;
  return { client: await connected(project), pid, project };
}

async function comes(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true);
}

test("`plan` answers at once and is looked at; `stop` ends it with its agent", async () => {
  const { client, pid, project } = await withSlowAgent();
  try {
    expect(await call(client, "plan", { goal: "say hello" })).toMatchObject({
      text: expect.stringContaining("started"),
    });
    await comes(() => pid() > 0);
    expect((await call(client, "status")).text).toContain("`ralph plan`, started here, is at work:");
    expect(await call(client, "run")).toMatchObject({ isError: true });

    expect(await call(client, "stop")).toMatchObject({
      text: expect.stringContaining("planning is stopped"),
      isError: false,
    });
    await comes(() => !existsSync(`/proc/${pid()}`));
    expect((await call(client, "status")).text).toContain("`ralph plan`, started here, has ended:");
  } finally {
    await client.close();
    project.remove();
  }
});

test("a call that the client cancels ends with what it began", async () => {
  const { client, pid, project } = await withSlowAgent();
  try {
    const cancel = new AbortController();
    const asked = client.callTool({ name: "plan", arguments: { goal: "say hello" } }, { signal: cancel.signal });
    const refused = asked.then(() => false, () => true);
    await comes(() => pid() > 0);
    cancel.abort();
    expect(await refused).toBe(true);

    await comes(() => !existsSync(`/proc/${pid()}`));
    await until(client, "status", /`ralph plan`, started here, has ended:/);
  } finally {
    await client.close();
    project.remove();
  }
});

test("a run is paused, resumed and stopped", async () => {
  const { client, pid, project } = await withSlowAgent();
  try {
    await call(client, "run");
    await comes(() => pid() > 0);
    for (const name of ["pause", "resume"]) expect(await call(client, name)).toMatchObject({ isError: false });
    expect(await call(client, "stop", { now: true })).toMatchObject({ isError: false });
    await comes(() => !existsSync(`/proc/${pid()}`));
    await until(client, "status", /`ralph run`, started here, has ended:/);
  } finally {
    await client.close();
    project.remove();
  }
});

test("`ralph skill install` writes what each agent reads, and nothing over a file of someone else's", async () => {
  const project = crashProject("exec", "tree");
  const { root, environment } = project;
  const skill = async (...words: string[]): Promise<{ readonly exitCode: number | null; readonly output: string }> =>
    await runProgram([...ralphProgram(), "skill", ...words], { cwd: root, environment });
  try {
    for (const [agent, folder] of [["claude", ".claude"], ["codex", ".agents"], ["copilot", ".github"]] as const) {
      expect(await skill("install", agent)).toMatchObject({ exitCode: 0 });
      const text = readFileSync(join(root, folder, "skills/ralph/SKILL.md"), "utf8");
      expect(text).toMatch(/^---\nname: ralph\ndescription: .{50,}\n---\n/);
    }
    expect((await skill("install", "claude")).output).toContain("is there already");
    const edited = join(root, ".claude/skills/ralph/SKILL.md");
    writeFileSync(edited, `${readFileSync(edited, "utf8")}\nMy own rule.\n`);
    expect((await skill("install", "claude")).output).toContain("had been edited: it is SKILL.md.before now");
    expect(readFileSync(`${edited}.before`, "utf8")).toContain("My own rule.");
    expect(readFileSync(edited, "utf8")).not.toContain("My own rule.");
    expect(await skill("install", "--user", "claude")).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(environment["HOME"] ?? "", ".claude/skills/ralph/SKILL.md"))).toBe(true);
    mkdirSync(join(root, ".gemini/skills/ralph"), { recursive: true });
    writeFileSync(join(root, ".gemini/skills/ralph/SKILL.md"), "mine");
    expect(await skill("install", "gemini")).toMatchObject({ exitCode: 2 });
    expect(readFileSync(join(root, ".gemini/skills/ralph/SKILL.md"), "utf8")).toBe("mine");
    expect((await skill("install", "cloude")).output).toContain("did you mean `claude`?");
    expect(await skill("remove")).toMatchObject({ exitCode: 2 });
  } finally {
    project.remove();
  }
});
