import { REPORT_STYLE } from "../generated/report_style.ts";
import { createStyle } from "../ui/text.ts";
import * as document from "./document.ts";
import { fragment, inline, type Markup, NOTHING, withCode } from "./markup.ts";
import { firstLine, headingOf, markOf, outcomeOf, plural, type Tone } from "./texts.ts";
import type { RunReport } from "./types.ts";

const { symbols } = createStyle({ colour: false, ascii: false });
/** For the eye alone. */
export const HIDDEN: Markup = { markup: ' aria-hidden="true"' };

/** A report as one page that asks for nothing from outside and runs nothing. Pure. */
export function htmlReport(report: RunReport): string {
  const outcome = outcomeOf(report);
  const rows = document.factRows(report);
  const look = list(document.needsALook(report));
  const page = fragment`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>${outcome.word}: ${headingOf(report)}</title>
<style>${{ markup: REPORT_STYLE }}</style>
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
${rows.filter(({ name }) => name === "Next").map(({ words }) => fragment`<p class="next">${shown(words)}</p>`)}
<dl>
${
    rows.filter(({ name }) => name !== "Next").map(({ name, words }) =>
      fragment`<dt>${name}</dt><dd>${shown(words)}</dd>`
    )
  }
</dl>
</header>
<main>
${section("Needs a look", look === NOTHING ? NOTHING : fragment`<div class="card">${look}</div>`)}
${section("Items", fragment`${report.items.map((item) => itemCard(document.itemBlock(item, report)))}`)}
${document.laterSections(report).map(({ title, lines }) => section(title, list(lines)))}
</main>
<footer class="dim"><p>${shown(document.eventsWords(report))}</p></footer>
</body>
</html>
`;
  return page.markup;
}

/** The states of the last loop's items, as lengths. */
function bar({ counts }: RunReport): Markup {
  const { verified, unverified, parked, open } = counts;
  const all = [["good", verified], ["warn", unverified], ["bad", parked], ["dim", open]] as const;
  const parts = all.filter(([, count]) => count > 0);
  if (parts.length === 0) return NOTHING;
  return fragment`<div class="bar" aria-hidden="true">${
    parts.map(([tone, count]) => fragment`<span class="${tone}" style="flex:${count}"></span>`)
  }</div>`;
}

/** One item, folded up when its checks passed. */
function itemCard({ item, tone, facts, notes, lines }: document.ItemBlock): Markup {
  const open = item.state === "verified" ? NOTHING : { markup: " open" };
  return fragment`<details${open}>
<summary>${mark(tone)}<span class="title"><span class="id">${item.id}</span>${item.title}</span>
<span class="side">${item.state}, ${plural(item.attempts.length, "attempt")}</span></summary>
<div class="inside">
<p class="dim">${facts.join(` ${symbols.dot} `)}</p>
${notes.map((note) => fragment`<p class="${item.state === "reopened" ? "warn" : "dim"}">${note}</p>`)}
${list(item.criteria.map((told) => ({ words: [{ told }] })))}
${list(lines)}
</div>
</details>`;
}

/** Lines as a list; nothing where there are none. */
export function list(lines: readonly document.Line[]): Markup {
  return lines.length === 0 ? NOTHING : fragment`<ul>${lines.map(line)}</ul>`;
}

function line({ tone, words, below, lines = [] }: document.Line): Markup {
  const text = fragment`${shown(words)}${below === undefined ? NOTHING : fragment`<pre tabindex="0">${below}</pre>`}${
    list(lines)
  }`;
  return tone === undefined
    ? fragment`<li>${text}</li>`
    : fragment`<li class="row">${mark(tone)}<div>${text}</div></li>`;
}

/** The symbol of a tone; `HIDDEN` where words beside it say the same. */
export function mark(tone: Tone, hidden: Markup = NOTHING): Markup {
  return fragment`<span class="mark ${tone}"${hidden}>${markOf(tone, symbols)}</span>`;
}

function shown(words: readonly document.Word[]): Markup {
  return inline(words.map((word) => {
    if (typeof word === "string") return fragment`${word}`;
    if ("code" in word) return fragment`<code>${word.code}</code>`;
    if ("strong" in word) return fragment`<strong>${word.strong}</strong>`;
    return "told" in word ? withCode(word.told) : fragment`<span class="dim">${word.dim}</span>`;
  }));
}

function section(title: string, inside: Markup): Markup {
  return inside.markup === "" ? NOTHING : fragment`<section><h2>${title}</h2>${inside}</section>`;
}
