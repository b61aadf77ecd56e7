import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ensureDirectory, temporaryDirectory, writeAtomic } from "../../lib/host/files.ts";
import { bunPath, ROOT } from "../../tools/runtimes.mjs";
import { finish } from "../packaging/runtimes.ts";

/** The check says this of a folder with these files. */
async function check(files: Readonly<Record<string, string>>) {
  await using folder = await temporaryDirectory("ralph-pages-");
  for (const [path, text] of Object.entries(files)) {
    await ensureDirectory(join(folder.path, path, ".."));
    await writeAtomic(join(folder.path, path), text);
  }
  return await finish([bunPath(), join(ROOT, "tools", "check_docs.ts")], [folder.path], ROOT);
}

const GOOD = `# A tool

[A page](docs/page.md#what-it-does), [elsewhere](https://example.org/dead), \`[no link](nowhere.md)\`.

\`\`\`sh
cd project && ralph run --max-cost 5 # a comment
ralph exec "add it" --agent claude > log.txt 2>&1
ralph status --json | jq .
\`\`\`

    ralph task add "name" --accept "Verify: \`npm test\`"

\`ralph run FEATURE [--strict]\` and \`ralph help config\` help; \`"limits": { "costUsd": 5 }\` limits.

\`\`\`json
{ "provider": { "preset": "claude" } }
\`\`\`

<!-- tsconfig.json -->

\`\`\`json
{ "compilerOptions": {} }
\`\`\`

\`\`\`text
ralph nothing --of this
\`\`\`
`;
const PAGE = "# Page\n\n## What *it* does\n\nBack to [the tool](../README.md#a-tool).\n";

describe("check_docs.ts", () => {
  test("finds no mistake in pages that have none", async () => {
    const finished = await check({ "README.md": GOOD, "docs/page.md": PAGE });

    expect(finished).toEqual({ code: 0, stdout: "docs: no mistake found\n", stderr: "" });
  });

  test("finds a mistake of each kind, with its line", async () => {
    const mistakes = {
      "[gone](docs/gone.md)": "dead link: docs/gone.md",
      "[up](../../etc/passwd)": "dead link: ../../etc/passwd",
      "[no\nheading](docs/page.md#no-heading)": "docs/page.md has no heading for #no-heading",
      "`code\nover two lines`": "code does not end on its line",
      "`ralph rnu`": "there is no command `ralph rnu`",
      "`ralph run --max-costs 5`": "`ralph run` has no flag --max-costs",
      "`ralph help confg`": "there is no help on `confg`",
      "```sh\nralph rnu\n```": "there is no command `ralph rnu`",
      "```sh\ncd x && ralph run --max-costs 5\n```": "unknown flag `--max-costs` for `ralph run`",
      "```sh\nralph exec \\\n  --ui rihc\n```": "--ui must be one of",
      "    ralph exec add it": "the goal must be one argument (got 2)",
      '```json\n{ "limits": { "costUSD": 5 } }\n```': "limits.costUSD is not a key of the configuration",
      "```sh\ncat > ralph.config.json <<'EOF'\n{ \"agent\": 1 }\nEOF\n```": "agent is not a key of the configuration",
      '`{ "verify": { "defaults": [] } }`': "verify.defaults is not a key of the configuration",
    };
    const text = Object.keys(mistakes).map((mistake) => `${mistake}\n`).join("\n");
    const { code, stderr } = await check({ "README.md": `# A tool\n\n${text}`, "docs/page.md": PAGE });
    const lines = stderr.trimEnd().split("\n");

    expect(code).toBe(1);
    for (const message of Object.values(mistakes)) {
      expect(lines).toContainEqual(expect.stringContaining(message));
    }
    expect(lines).toHaveLength(Object.keys(mistakes).length);
    expect(lines).toContainEqual("README.md:3: dead link: docs/gone.md");
  });

  test("finds a page that nothing leads to, and one that the program names and that does not exist", async () => {
    const { code, stderr } = await check({
      "README.md": "# A tool\n",
      "docs/page.md": "# Page\n",
      "lib/a.ts": '\nconst hint = "docs/guides/b.md says more";\n',
    });

    expect(code).toBe(1);
    expect(stderr).toBe(
      "docs/page.md:1: no page leads here from README.md\n" +
        "lib/a.ts:2: names docs/guides/b.md, which does not exist\n",
    );
  });
});
