import { localTime } from "../host/local_date.ts";
import { workText } from "../cli/end_with.ts";
import { formatDuration } from "../ui/format_duration.ts";
import { createStyle } from "../ui/style.ts";
import { fragment, itemCard, type Markup, NOTHING, withCode } from "./html_item.ts";
import { STYLE } from "./html_style.ts";
import type { NoteReport, RunReport } from "./types.ts";
import {
  agentsText,
  brokenHooks,
  commitText,
  doubtedChecks,
  firstLine,
  headingOf,
  hookText,
  landingsText,
  markOf,
  noticeTexts,
  openItems,
  outcomeOf,
  partName,
  plural,
  restoredGroups,
  statusTone,
  type Tone,
  totalText,
  trespassText,
  whenText,
  workflowsText,
} from "./texts.ts";

const { symbols } = createStyle({ colour: false, ascii: false });

/** A report as one page that asks for nothing from outside and runs nothing. Pure. */
export function htmlReport(report: RunReport): string {
  const outcome = outcomeOf(report);
  const page = fragment`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>${outcome.word}: ${headingOf(report)}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<header>
<h1><span class="${outcome.tone}">${markOf(outcome.tone, symbols)} ${outcome.word}</span> ${
    report.goal === null
      ? fragment`<span class="run">run ${report.run}</span>`
      : fragment`<span class="goal">${firstLine(report.goal)}</span>`
  }</h1>
<p>${outcome.detail}</p>
${bar(report)}
${report.next.map((step) => fragment`<p class="next">${withCode(step)}</p>`)}
${facts(report)}
</header>
<main>
${section("Needs a look", needsALook(report))}
${section("Items", report.items.map((item) => itemCard(item, report, symbols)))}
${section("Parts", partLines(report))}
${section("Commits outside items", commitLines(report))}
${section("Hooks", hookLines(report))}
${section("Waits", waitLines(report))}
${section("Consents and answers", answerLines(report))}
${section("Notes", list(report.notes.map((note) => fragment`<li>${noteText(note)}</li>`)))}
</main>
${footer(report)}
</body>
</html>
`;
  return page.markup;
}

function partLines({ parts }: RunReport): Markup {
  return list(parts.map((part) =>
    line(
      statusTone(part.status),
      fragment`${partName(part)}: ${part.status ?? "no end recorded"}${
        part.turns.length === 0 ? "" : `, ${plural(part.turns.length, "turn")} outside items`
      }`,
    )
  ));
}

function commitLines({ commits }: RunReport): Markup {
  return list(
    commits.map((commit) => fragment`<li><code>${commit.commit.slice(0, 7)}</code> ${commitText(commit)}</li>`),
  );
}

function hookLines({ hooks }: RunReport): Markup {
  return list(hooks.map((hook) =>
    line(
      hook.status === "completed" ? "good" : "warn",
      fragment`${hookText(hook)}${hook.log === "" ? NOTHING : fragment` <code>${hook.log}</code>`}`,
    )
  ));
}

function waitLines({ waits }: RunReport): Markup {
  return list(
    waits.map(({ at, agent, message, waitedMs, interrupted }) =>
      fragment`<li><span class="dim">${localTime(at)}</span> ${agent}: ${
        waitedMs === null ? "the run ended while it waited" : `waited ${formatDuration(waitedMs)}`
      }${interrupted ? ", interrupted" : ""} (${message})</li>`
    ),
  );
}

function answerLines({ answers }: RunReport): Markup {
  return list(
    answers.map(({ id, question, answer, source }) =>
      fragment`<li>${withCode(question ?? id)} <strong>${answer}</strong> <span class="dim">${source}</span></li>`
    ),
  );
}

function footer({ events }: RunReport): Markup {
  return fragment`<footer class="dim"><p><code>${events.file}</code> ${plural(events.count, "event")}${
    events.malformed === 0 ? "" : `, ${plural(events.malformed, "line")} that could not be read`
  }${
    events.unknown === 0 ? "" : `, ${plural(events.unknown, "event")} of a kind that this Ralph does not know`
  }</p></footer>`;
}

/** The states of the last loop's items, as lengths. */
function bar({ counts }: RunReport): Markup {
  const parts = ([["good", counts.verified], ["warn", counts.unverified], ["bad", counts.parked], [
    "dim",
    counts.open,
  ]] as const).filter(([, count]) => count > 0);
  if (parts.length === 0) return NOTHING;
  return fragment`<div class="bar" aria-hidden="true">${
    parts.map(([tone, count]) => fragment`<span class="${tone}" style="flex:${count}"></span>`)
  }</div>`;
}

function facts(report: RunReport): Markup {
  const row = (name: string, value: string | Markup): Markup =>
    value === "" ? NOTHING : fragment`<dt>${name}</dt><dd>${value}</dd>`;
  return fragment`<dl>
${row("Project", report.project)}
${row("Branch", report.work === null ? report.branch ?? "" : workText(report.work))}
${row("Run", report.goal === null ? "" : report.run)}
${row("Workflow", workflowsText(report))}
${row("When", whenText(report))}
${row("Agent", agentsText(report))}
${row("Used", totalText(report.usage, report.hooks.length))}
${row("At once", landingsText(report))}
${row("Why it ended", report.reasons.map(firstLine).join("; "))}
${row("Folder", fragment`<code>${report.folder}</code>`)}
</dl>`;
}

/** Items that no check has proved or that were given up on, and what Ralph had to undo or could not read. */
function needsALook(report: RunReport): Markup {
  const lines = [
    ...openItems(report).map(({ ids, words, tone }) =>
      line(tone, fragment`${ids.map((id) => fragment`<strong>${id}</strong> `)}${words}`)
    ),
    ...report.trespasses.map((trespass) => line("bad", fragment`${trespassText(trespass)}<pre>${trespass.diff}</pre>`)),
    ...restoredGroups(report).map(({ path, items }) =>
      line(
        "warn",
        fragment`edited manually and restored: <code>${path}</code>${
          items.length === 0 ? "" : `, in turns for ${items.join(", ")}`
        }`,
      )
    ),
    ...doubtedChecks(report).map((text) => line("warn", fragment`${text}`)),
    ...noticeTexts(report).map((text) => line("warn", fragment`${text}`)),
    ...brokenHooks(report).map((text) => line("warn", fragment`${text}`)),
    ...report.warnings.map((note) => line("warn", noteText(note))),
    ...(report.events.malformed === 0 ? [] : [
      line(
        "warn",
        fragment`${plural(report.events.malformed, "line")} of the events could not be read and ${
          report.events.malformed === 1 ? "is" : "are"
        } left out: ${report.events.problems.map((problem) => fragment`<code>${problem}</code> `)}`,
      ),
    ]),
  ];
  return lines.length === 0 ? NOTHING : fragment`<div class="card">${list(lines)}</div>`;
}

function noteText({ at, item, message }: NoteReport): Markup {
  return fragment`<span class="dim">${localTime(at).slice(11)}${item === null ? "" : ` ${item}`}</span> ${
    withCode(message)
  }`;
}

function line(tone: Tone, text: Markup): Markup {
  return fragment`<li class="row"><span class="mark ${tone}">${markOf(tone, symbols)}</span><div>${text}</div></li>`;
}

function list(lines: readonly Markup[]): Markup {
  return lines.length === 0 ? NOTHING : fragment`<ul>${lines}</ul>`;
}

function section(title: string, inside: Markup | readonly Markup[]): Markup {
  const isEmpty = "markup" in inside ? inside.markup === "" : inside.length === 0;
  return isEmpty ? NOTHING : fragment`<section><h2>${title}</h2>${inside}</section>`;
}
