import { resolve } from "node:path";
import { EXIT } from "../../errors/ralph_error.ts";
import { writeAtomic } from "../../host/files.ts";
import { type Invocation, styleFor, toJson } from "../../cli/command.ts";
import { findRun, makeReport } from "../../report/make_report.ts";
import type { RunReport } from "../../report/types.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { resumeCommand, runFolders } from "../../workflows/table.ts";

/** `ralph report [RUN]`: what a run did, for a reader. Reads events and git, changes nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [named], flags, host, out, say } = invocation;
  const root = await resolveRoot(invocation);
  const report = await makeReport(
    root,
    await findRun({ root, cwd: host.environment.cwd, folders: await runFolders(root) }, named),
    { host, resume: resumeCommand },
  );
  const file = flags.text("output");
  if (file === undefined) {
    const text = await rendered(report, invocation);
    const { paintMarkdown } = await import("../../report/markdown.ts");
    const isMarkdown = (flags.text("format") ?? "md") === "md";
    out(isMarkdown ? paintMarkdown(text.trimEnd(), styleFor(invocation, "stdout")) : text.trimEnd());
    return EXIT.done;
  }
  await writeAtomic(resolve(host.environment.cwd, file), await rendered(report, invocation));
  say(`wrote ${file}`);
  return EXIT.done;
}

async function rendered(report: RunReport, invocation: Invocation): Promise<string> {
  if (invocation.flags.text("for") === "review") {
    return await (await import("../finish/branch_runs.ts")).reviewText(invocation.host, report);
  }
  switch (invocation.flags.text("format")) {
    case "json":
      return `${toJson(report)}\n`;
    case "html":
      return (await import("../../report/html.ts")).htmlReport(report);
    default: {
      const { markdownReport } = await import("../../report/markdown.ts");
      return markdownReport(report, styleFor(invocation, "stdout").symbols);
    }
  }
}
