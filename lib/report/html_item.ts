import { formatDuration } from "../ui/format_duration.ts";
import type { Symbols } from "../ui/style.ts";
import type { AttemptReport, ItemReport, RunReport } from "./types.ts";
import {
  attemptReason,
  attemptText,
  checkText,
  commitText,
  firstLine,
  itemText,
  itemUsage,
  markOf,
  partName,
  plural,
  proofOfItem,
  turnText,
} from "./texts.ts";
import { changesText } from "../ui/event_text.ts";
import { plainText } from "../ui/printable.ts";

/** No markup. */
export const NOTHING: Markup = { markup: "" };

/** One item, folded up when its checks passed. */
export function itemCard(item: ItemReport, report: RunReport, symbols: Symbols): Markup {
  const { words, tone } = itemText(item);
  const part = report.parts[item.part];
  const where = report.parts.length > 1 && part !== undefined ? `${partName(part)}, ` : "";
  const open = item.state === "verified" ? NOTHING : { markup: " open" };
  const proof = proofOfItem(report, item);
  return fragment`<details${open}>
<summary><span class="mark ${tone}">${
    markOf(tone, symbols)
  }</span><span class="title"><span class="id">${item.id}</span>${item.title}</span>
<span class="side">${item.state === "verified" ? "verified" : item.state}, ${
    plural(item.attempts.length, "attempt")
  }</span></summary>
<div class="inside">
<p class="dim">${where}${item.kind}: ${words}${itemUsage(item) === "" ? "" : `; ${itemUsage(item)}`}</p>
${proof === "" ? NOTHING : fragment`<p class="dim">${proof}</p>`}
${item.state === "reopened" && item.reason !== null ? fragment`<p class="warn">${firstLine(item.reason)}</p>` : NOTHING}
${
    item.criteria.length === 0
      ? NOTHING
      : fragment`<ul>${item.criteria.map((criterion) => fragment`<li>${withCode(criterion)}</li>`)}</ul>`
  }
${item.attempts.map((attempt) => attemptBlock(attempt, symbols))}
</div>
</details>`;
}

function attemptBlock(attempt: AttemptReport, symbols: Symbols): Markup {
  const { words, tone } = attemptText(attempt);
  const reason = attemptReason(attempt);
  const time = attempt.durationMs === null ? "" : ` (${formatDuration(attempt.durationMs)})`;
  return fragment`<div class="attempt">
<p><span class="mark ${tone}">${
    markOf(tone, symbols)
  }</span>attempt ${attempt.number} <span class="dim">iteration ${attempt.iteration}</span> ${words}${time}${
    reason === null ? "" : `: ${reason}`
  }</p>
<ul>
${
    attempt.turns.map((turn) =>
      fragment`<li>${turnText(turn)}${
        turn.transcript === "" ? NOTHING : fragment` <code>${turn.transcript}</code>`
      }</li>`
    )
  }
${
    attempt.checks.map((check) =>
      fragment`<li><span class="mark ${check.ok ? "good" : "bad"}">${
        check.ok ? symbols.passed : symbols.failed
      }</span><code>${check.name}</code> <span class="dim">${checkText(check)}</span>${
        check.tail === null || check.tail.trim() === "" ? NOTHING : fragment`<pre>${check.tail}</pre>`
      }</li>`
    )
  }
${attempt.changes === null ? NOTHING : fragment`<li>changed ${changesText(attempt.changes)}</li>`}
${attempt.commits.map((commit) => fragment`<li><code>${commit.commit.slice(0, 7)}</code> ${commitText(commit)}</li>`)}
</ul>
</div>`;
}

/** Text whose back-ticks set off code. */
export function withCode(text: string): Markup {
  const parts = text.split("`").map((part, index) =>
    index % 2 === 0 ? fragment`${part}` : fragment`<code>${part}</code>`
  );
  return { markup: parts.map(({ markup }) => markup).join("") };
}

/** Markup that was made here. Only `fragment` makes it. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Markup[];

/** Puts texts into markup: every one of them is escaped. */
export function fragment(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: strings.reduce((before, string, index) => `${before}${shown(parts[index - 1] ?? "")}${string}`) };
}

function shown(part: Part): string {
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "markup" in part ? part.markup : part.map(({ markup }) => markup).join("\n");
}

function escaped(text: string): string {
  return plainText(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
