import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, passedIn, prdText, stories, WORK } from "./world.ts";

const MARKER = "<promise>COMPLETE</promise>";
const UNCHECKED = prdText([{ ...stories(1)[0]!, acceptanceCriteria: ["work/1.txt is there"] }]);

/** None of these is the agent's own word that it is done. */
const NO_CLAIM: readonly (readonly [where: string, script: string])[] = [
  ["in prose", `echo 'I will print ${MARKER} when the tests pass.'`],
  ["quoted", `echo '> ${MARKER}'; echo '"${MARKER}"'`],
  ["in a fence", `printf '%s\\n' '\`\`\`' '${MARKER}' '\`\`\`'`],
  ["in a fence that is never closed", `printf '%s\\n' 'like so:' '~~~text' '${MARKER}'`],
  ["on standard error", `echo '${MARKER}' >&2`],
  ["in an echo of the prompt", "cat ignored/prompt"],
  ["in an echo of the prompt, word by word behind a quote mark", "sed 's/^/> /' ignored/prompt"],
  ["in a file that it prints", `echo done > note; echo '${MARKER}' >> note; cat note`],
  ["after a carriage return inside a line", `printf 'half done\\r${MARKER} soon\\n'`],
];

describe("a marker that an agent prints", () => {
  test.each(NO_CLAIM)("%s settles nothing", async (_where, script) => {
    const agent = `mkdir -p ignored; cat > ignored/prompt; ${script}`;
    const project = faultProject(agent, { prd: UNCHECKED });

    const { root, stderr } = await project.cli.args("run", "--allow-unverified", "--max-iterations", "1").expectExit(1);

    expect(passedIn(root)).toEqual([]);
    expect(stderr).toMatch(/\n▲ exhausted: 0 verified in 1 iteration\n  limit reached: 1 iteration\n/);
    await expectNothingLeft(project, root);
  });

  test("as a line of its own words is a claim, shown as unverified", async () => {
    const project = faultProject(`${WORK}; echo '  **${MARKER}**  '`, { prd: UNCHECKED });

    const { root, stderr } = await project.cli.args("run", "--allow-unverified").expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
    expect(stderr).toContain("  unverified  US-001 (no check ran: only the agent says so)\n");
  });

  test("is no claim where there are checks: they alone decide", async () => {
    const project = faultProject(`cat > /dev/null; echo '${MARKER}'`);

    const { root } = await project.cli.args("run", "--max-iterations", "1").expectExit(1);

    expect(passedIn(root)).toEqual([]);
  });
});
