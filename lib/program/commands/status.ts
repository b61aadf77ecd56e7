import { EXIT } from "../../errors/exit_codes.ts";
import { oneLine } from "../../ui/printable.ts";
import type { Invocation } from "../../cli/command.ts";
import { featureArgument } from "../../workflows/feature/commands/argument.ts";
import { readStatus, type StatusReport } from "../../workflows/exec/status_report.ts";
import { styleFor, toJson } from "../../cli/show.ts";

/** `ralph status`: where things stand; starts nothing and changes nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const { place, feature } = await featureArgument(invocation);
  if (feature !== null) {
    return await (await import("../../workflows/feature/commands/status.ts")).featureStatus(invocation, feature);
  }
  if (place.workflow.name === "gsd") {
    return await (await import("../../workflows/gsd/commands/status.ts")).statusOfGsd(invocation, place);
  }
  if (place.workflow.name === "spec") {
    const { specStatus } = await import("../../workflows/spec/commands/status.ts");
    await specStatus(invocation);
    return EXIT.done;
  }
  if (place.workflow.name === "sprint") {
    const { showSprints } = await import("../../workflows/sprint/commands/status.ts");
    return await showSprints(invocation);
  }
  const report = await readStatus(invocation, place);
  if (invocation.flags.has("json")) invocation.out(toJson(report));
  else for (const line of statusLines(report, invocation)) invocation.out(line);
  return EXIT.done;
}

function statusLines(report: StatusReport, invocation: Invocation): readonly string[] {
  const { bold, dim, good, bad, warn, symbols } = styleFor(invocation, "stdout");
  const branch = report.branch === null ? "" : ` ${symbols.dot} ${report.branch}`;
  const lines = [
    `${bold(report.workflow)} ${dim(`(${report.why}) ${symbols.dot} ${report.root}${branch}`)}`,
    `agent: ${report.agent ?? warn("none configured")}`,
  ];
  if (report.running !== null) {
    lines.push(
      warn(`running: \`ralph ${report.running.purpose}\`, pid ${report.running.pid}, since ${report.running.since}`),
    );
  }
  if (report.plan !== null) lines.push(`plan: ${report.plan.state} ${dim(`"${oneLine(report.plan.goal)}"`)}`);
  if (report.problem !== null) lines.push(`${bad(symbols.failed)} ${report.problem}`);
  if (report.counts !== null) {
    const { total, passed, open, parked } = report.counts;
    lines.push(`stories: ${passed}/${total} pass, ${open} open${parked === 0 ? "" : `, ${warn(`${parked} parked`)}`}`);
  }
  for (const story of report.stories) {
    const mark = { passes: good(symbols.passed), open: dim(symbols.open), parked: warn(symbols.warning) }[story.state];
    const note = story.state === "parked" ? dim(` parked: ${oneLine(story.reason?.split("\n")[0] ?? "")}`) : "";
    const unchecked = story.state !== "passes" && story.checks.length === 0 ? warn(" no check") : "";
    lines.push(`  ${mark} ${oneLine(story.id)}  ${oneLine(story.title)}${note}${unchecked}`);
  }
  return [...lines, `next: ${report.hint}`];
}
