import { resolve } from "node:path";
import { EXIT } from "../../errors/exit_codes.ts";
import { writeAtomic } from "../../host/files.ts";
import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { loadConfig } from "../../config/load.ts";
import { repositoryOf } from "../../report/commits.ts";
import { findRun } from "../../report/find_run.ts";
import { makeReport } from "../../report/make_report.ts";
import type { RunReport } from "../../report/types.ts";
import { resolveRoot } from "../../cli/root.ts";
import { resumeCommand, runFolders } from "../../workflows/table.ts";
import { styleFor, toJson } from "../../cli/show.ts";

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
  if (invocation.flags.text("for") === "review") return await reviewed(report, invocation);
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

/** The body of a request, for the run's branch as the run left it. */
async function reviewed(report: RunReport, { host }: Invocation): Promise<string> {
  const { root, work, branch, run, status, proved } = report;
  const repository = await repositoryOf(host, root);
  if (work === null || repository === null) {
    throw usage(`run ${run} has not ended on a branch: there is nothing to review`, "`ralph report` shows what it did");
  }
  const { branchChange, branchRuns, stateRow } = await import("../finish/branch_runs.ts");
  const { requestBody } = await import("../../report/pull_request.ts");
  const { head, from } = work;
  const place = { root, repository, host };
  const proof = status === "passed" ? { commit: head, results: new Map(proved.map((name) => [name, true])) } : null;
  const reports = await branchRuns(place, { branch, head, base: from, isMeant: (id) => id <= run });
  const { config } = await loadConfig(root);
  const row = stateRow(config, report.parts.findLast(({ kind }) => kind === "loop")?.name ?? "");
  const { globs } = config.tests;
  const change = await branchChange(place, row, { head, from, globs, proof });
  return requestBody(reports, { change, more: [], proof });
}
