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
  for (let tries = 0; tries < 60; tries += 1) {
    const { text } = await call(client, name);
    if (pattern.test(text)) return text;
    await new Promise((done) => setTimeout(done, 500));
  }
  throw new Error(`${name} never said ${pattern}`);
}

test("the tools of `ralph mcp` look, run and report as the commands do", async () => {
  const project = crashProject("exec", "committed");
  writeFileSync(join(project.root, "ralph.config.json"), JSON.stringify({ provider: { command: "worker" } }));
  const client = await connected(project);
  try {
    expect(client.getInstructions()).toContain("start a run"); // all that codex shows its model of it at first
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["status", "plan", "run", "tell", "report"]);
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
}, 120_000);

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
    for (let tries = 0; tries < 100 && existsSync(`/proc/${pid}`); tries += 1) {
      await new Promise((done) => setTimeout(done, 100));
    }

    expect(existsSync(`/proc/${pid}`)).toBe(false);
  } finally {
    project.remove();
  }
}, 60_000);

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
}, 60_000);
