import { dollars } from "../ui/event_text.ts";
import { localTime } from "../host/local_date.ts";
import { tokensOf } from "../backlog/usage.ts";
import { fragment, type Markup, NOTHING } from "../report/markup.ts";
import type { RunReport } from "../report/types.ts";
import type { LiveRun } from "../steer/types.ts";
import { formatDuration } from "../ui/printable.ts";
import type { RunModel } from "./model.ts";
import { itemsBar } from "./board.ts";
import { stateWord } from "./run_page.ts";
import type { Project } from "./runs.ts";

/** A run in the list of runs. */
export interface ListedRun {
  readonly href: string;
  readonly id: string;
  readonly model: RunModel;
  readonly live: LiveRun | null;
}

/** A project with its newest runs. */
export interface ListedProject {
  readonly project: Project;
  readonly runs: readonly ListedRun[];
  /** Runs that are not listed. */
  readonly more: number;
}

/** All runs, those at work first. Pure. */
export function overview(projects: readonly ListedProject[], now: number): Markup {
  const atWork = projects.flatMap(({ runs }) => runs).filter(({ live }) => live !== null).length;
  return fragment`<h1>${
    atWork === 0 ? "No run is at work" : atWork === 1 ? "One run is at work" : `${atWork} runs are at work`
  }</h1>${
    projects.map(({ project, runs, more }) =>
      fragment`<section class="project"><h2>${project.name} <small class="dim">${project.root}</small></h2>${
        runs.length === 0
          ? fragment`<p class="card dim">No run has left its events here.</p>`
          : fragment`<ul class="runs">${runs.map((run) => runCard(run, now))}</ul>`
      }${more === 0 ? NOTHING : fragment`<p class="dim">${more} older runs are left out</p>`}</section>`
    )
  }`;
}

function runCard({ href, id, model, live }: ListedRun, now: number): Markup {
  const report = model.report() as RunReport;
  const { word, tone } = stateWord(report, live);
  const tokens = tokensOf(model.usage);
  const took = model.tally.startedMs === null ? 0 : (live === null ? model.lastMs ?? now : now) - model.tally.startedMs;
  const part = report.parts.at(-1);
  const { costUsd, estimated } = model.usage;
  const facts = [
    model.tally.total === null ? `${model.tally.passed} done` : `${model.tally.passed} of ${model.tally.total} done`,
    formatDuration(took),
    tokens === null ? "" : `${tokens.toLocaleString("en-US")} tokens`,
    costUsd === null ? "" : `${estimated ? "~" : ""}${dollars(costUsd)}`,
  ].filter(Boolean).join(" · ");
  const doing = [...model.views.values()].flatMap(({ iteration, activity }) =>
    live === null || iteration === null || activity === null ? [] : [iteration.item]
  );
  return fragment`<li class="card run"><a href="${href}"><span class="pill ${tone}${
    live !== null && tone === "plain" ? " moving" : ""
  }">${word}</span> <strong>${part?.name ?? "run"}</strong> <span class="dim">${
    model.tally.startedMs === null ? id : localTime(model.tally.startedMs)
  }</span></a><p class="dim">${facts}</p>${
    doing.slice(0, 4).map(({ id: item, title }) => fragment`<p><strong>${item}</strong> ${title}</p>`)
  }${itemsBar(report, model.tally)}${
    live?.asks === null || live === null ? NOTHING : fragment`<p class="warn">${live.asks.message}</p>`
  }</li>`;
}
