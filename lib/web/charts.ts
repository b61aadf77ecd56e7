/**
 * Charts as SVG, drawn by the server. Pure. Attributes only: the page's policy permits no style in markup.
 *
 * @module
 */
import { localTime } from "../host/local_date.ts";
import { fragment, type Markup, NOTHING } from "../report/markup.ts";
import { rowsOf, type Span } from "./spans.ts";

const WIDTH = 240;
const HEIGHT = 44;
const LINE_WIDTH = 1000;
const MOST_BARS = 250;

/** A line over time with the area below it; `label` says what it shows to who cannot see it. */
export function areaChart(
  points: readonly { readonly x: number; readonly y: number | null }[],
  label: string,
  tone: string,
): Markup {
  const known = points.flatMap(({ x, y }) => y === null ? [] : [{ x, y }]);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || known.length < 2 || last.x === first.x) return NOTHING;
  const top = Math.max(...known.map(({ y }) => y), 1e-9);
  const at = ({ x, y }: { readonly x: number; readonly y: number }): string =>
    `${round((x - first.x) / (last.x - first.x) * WIDTH)},${round(HEIGHT - 2 - y / top * (HEIGHT - 6))}`;
  const line = known.map(at).join(" L");
  return fragment`<svg class="chart ${tone}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="area" d="M0,${HEIGHT} L${line} L${WIDTH},${HEIGHT} Z"/><path class="line" d="M${line}"/></svg>`;
}

const MOST_COLUMNS = 60;

/** The last values of something, a column each. */
export function columnChart(values: readonly number[], label: string, tone: string): Markup {
  const shown = values.slice(-MOST_COLUMNS);
  if (shown.length < 2) return NOTHING;
  const top = Math.max(...shown, 1e-9);
  const step = WIDTH / shown.length;
  const bars = shown.map((value, index) => {
    const height = Math.max(1, value / top * (HEIGHT - 6));
    return fragment`<rect x="${round(index * step)}" y="${round(HEIGHT - height)}" width="${
      round(Math.max(1, step - 1.5))
    }" height="${round(height)}"/>`;
  });
  return fragment`<svg class="chart ${tone}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}

/** Parts of a whole as one bar. */
export function shareBar(
  parts: readonly { readonly count: number; readonly tone: string; readonly name: string }[],
): Markup {
  const whole = parts.reduce((sum, { count }) => sum + count, 0);
  if (whole === 0) return NOTHING;
  let x = 0;
  const label = parts.filter(({ count }) => count > 0).map(({ count, name }) => `${count} ${name}`).join(", ");
  const bars = parts.filter(({ count }) => count > 0).map(({ count, tone }) => {
    const width = count / whole * LINE_WIDTH;
    const bar = fragment`<rect class="${tone}" x="${round(x)}" y="0" width="${
      round(Math.max(2, width - 3))
    }" height="10"/>`;
    x += width;
    return bar;
  });
  return fragment`<svg class="share" viewBox="0 0 ${LINE_WIDTH} 10" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}

const ORDER = ["good", "plain", "warn", "bad"];
const ROW_HEIGHT = 18;

/** The attempts of a run on a line of time, those at the same time below each other. */
export function timeline(spans: readonly Span[], fromMs: number, toMs: number): Markup {
  if (spans.length === 0 || toMs <= fromMs) return NOTHING;
  const rows = rowsOf(spans);
  const bars = rows.flatMap((row, index) => rowBars(row, { fromMs, toMs, y: index * (ROW_HEIGHT + 2) }));
  const count = (tone: string): number => spans.filter((span) => span.tone === tone).length;
  const label = `${spans.length} iterations: ${count("good")} passed, ${count("warn")} to be tried again, ${
    count("bad")
  } given up`;
  const height = rows.length * (ROW_HEIGHT + 2) - 2;
  return fragment`<svg class="timeline" viewBox="0 0 ${LINE_WIDTH} ${height}" height="${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}

/** If there are very many, several share a bar, and the worst shows. */
function rowBars(
  row: readonly Span[],
  { fromMs, toMs, y }: { readonly fromMs: number; readonly toMs: number; readonly y: number },
): readonly Markup[] {
  const size = Math.ceil(row.length / MOST_BARS);
  const scale = LINE_WIDTH / (toMs - fromMs);
  const bars: Markup[] = [];
  for (let start = 0; start < row.length; start += size) {
    const group = row.slice(start, start + size);
    const [first, last] = [group[0] as Span, group.at(-1) as Span];
    const tone = group.map((span) => span.tone)
      .toSorted((one, other) => ORDER.indexOf(other) - ORDER.indexOf(one))[0] as string;
    const width = ((last.toMs ?? toMs) - first.fromMs) * scale;
    const names = size === 1 ? first.item : `${first.item} to ${last.item}`;
    bars.push(
      fragment`<rect class="${tone}" x="${round((first.fromMs - fromMs) * scale)}" y="${y}" width="${
        round(Math.max(1.5, width - 1.5))
      }" height="${ROW_HEIGHT}"><title>${names}, ${localTime(first.fromMs).slice(11)}</title></rect>`,
    );
  }
  return bars;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
