/** Prints how many bytes a step keeps that was formatted, in a process that holds nothing else. */
import { changeYaml, readProgress } from "../../../lib/workflows/sprint/document.ts";
import { addSteps } from "../../../lib/workflows/sprint/steps.ts";
import { liveMemory } from "../../live_memory.ts";

const STEPS = 20_000;
const mark = { iteration: 1, now: "2026-01-01T00:00:00Z" };
const prompts = Array.from({ length: STEPS }, (_, index) => `work ${index}`);
const [before, after]: [number[], number[]] = [[], []];
for (let round = 0; round < 2; round++) { // an earlier round's garbage is freed late: the least of all counts
  let text = changeYaml("mode: ralph\n", "P.yaml", (document) => addSteps(document, ["first"], mark).length > 0);
  before.push(liveMemory());
  text = changeYaml(text, "P.yaml", (document) => addSteps(document, prompts, mark).length > 0);
  if (readProgress(text, "P.yaml").steps.length !== STEPS + 1) throw new Error("steps are missing");
  after.push(liveMemory());
}
console.log((Math.min(...after) - Math.min(...before)) / STEPS);
