/**
 * Charts as SVG, drawn by the server. Pure. Attributes only: the page's policy permits no style in markup.
 *
 * @module
 */
import { localTime } from "../host/local_date.ts";
import { fragment, inline, type Markup, NOTHING } from "../report/markup.ts";
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
  const area = `M0,${HEIGHT} L${line} L${WIDTH},${HEIGHT} Z`;
  return svg(`chart ${tone}`, label, fragment`<path class="area" d="${area}"/><path class="line" d="M${line}"/>`);
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
    return rect({ x: index * step, y: HEIGHT - height, width: Math.max(1, step - 1.5), height });
  });
  return svg(`chart ${tone}`, label, inline(bars));
}

/** Parts of a whole as one bar. */
export function shareBar(
  parts: readonly { readonly count: number; readonly tone: string; readonly name: string }[],
): Markup {
  const whole = parts.reduce((sum, { count }) => sum + count, 0);
  if (whole === 0) return NOTHING;
  let x = 0;
  const shown = parts.filter(({ count }) => count > 0);
  const bars = shown.map(({ count, tone }) => {
    const from = x;
    x += count / whole * LINE_WIDTH;
    return rect({ x: from, y: 0, width: Math.max(2, x - from - 3), height: 10 }, tone);
  });
  const label = shown.map(({ count, name }) => `${count} ${name}`).join(", ");
  return svg("share", label, inline(bars), LINE_WIDTH, 10);
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
  return svg("timeline", label, inline(bars), LINE_WIDTH, height);
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
    const box = { x: (first.fromMs - fromMs) * scale, y, width: Math.max(1.5, width - 1.5), height: ROW_HEIGHT };
    bars.push(rect(box, tone, fragment`<title>${names}, ${localTime(first.fromMs).slice(11)}</title>`));
  }
  return bars;
}

function svg(name: string, label: string, inside: Markup, width = WIDTH, height = HEIGHT): Markup {
  const own = name === "timeline" ? fragment` height="${height}"` : NOTHING;
  return fragment`<svg class="${name}" viewBox="0 0 ${width} ${height}"${own} preserveAspectRatio="none" role="img" aria-label="${label}">${inside}</svg>`;
}

function rect(box: Readonly<Record<"x" | "y" | "width" | "height", number>>, tone = "", inside = NOTHING): Markup {
  const sides = Object.entries(box).map(([name, value]) => fragment` ${name}="${round(value)}"`);
  return fragment`<rect class="${tone}"${inline(sides)}>${inside}</rect>`;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
