// npm run bench -- [start iteration growth scale stream log idle memory] [--rounds N] [--items N] [--mb N] [--json]
// Measures the built binary against floors, interleaved in the same run, and prints the goals. CPU counts all children, so
// that a busy machine changes it little; speeds and memory want an idle one. Needs nothing from outside.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureGrowth, measureScale } from "./growth.mjs";
import { measureIdle } from "./idle.mjs";
import { measureIteration } from "./iteration.mjs";
import { measureMemory } from "./memory.mjs";
import { measureLog } from "./plan_log.mjs";
import { measureStart } from "./start.mjs";
import { measureStream } from "./stream.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    items: { type: "string", default: "20" },
    mb: { type: "string", default: "1000" },
    json: { type: "boolean", default: false },
  },
});
const ralph = process.env.RALPH_BIN ?? fileURLToPath(new URL("../../dist/ralph", import.meta.url));
if (!existsSync(ralph)) {
  console.error(`error: ${ralph} does not exist\nhint: npm run build`);
  process.exit(2);
}
const options = { ralph, rounds: Number(values.rounds), items: Number(values.items), megabytes: Number(values.mb) };
const measures = {
  start: measureStart,
  iteration: measureIteration,
  growth: measureGrowth,
  scale: measureScale,
  stream: measureStream,
  log: measureLog,
  idle: measureIdle,
  memory: measureMemory,
};
const chosen = positionals.length === 0 ? Object.keys(measures) : positionals;

const rows = [];
for (const name of chosen) {
  if (!(name in measures)) {
    console.error(`error: there is no measure ${name}\nhint: one of ${Object.keys(measures).join(", ")}`);
    process.exit(2);
  }
  rows.push(...await measures[name](options));
}
if (values.json) console.log(JSON.stringify(rows));
else {
  const lines = rows.map((
    { what, measured, floor, ratio, budget, met },
  ) => [what, measured, floor, ratio, budget, met ? "met" : "MISSED"]);
  const all = [["what", "measured", "floor", "ratio", "budget", ""], ...lines];
  const widths = all[0].map((_, column) => Math.max(...all.map((line) => line[column].length)));
  for (const line of all) console.log(line.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd());
}
