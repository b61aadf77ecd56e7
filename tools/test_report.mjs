/** Vitest's reporter for tools/test.mjs: counts, times, and each failure, also where no test failed. */
import { writeFileSync } from "node:fs";

export default class Report {
  onTestRunEnd(modules, unhandled) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state) => tests.filter((test) => test.result().state === state);
    const skipped = inState("skipped");
    writeFileSync(
      process.env.RALPH_TEST_REPORT,
      JSON.stringify({
        passed: inState("passed").length,
        skipped: skipped.length,
        slowest: modules.map((module) => ({ name: module.relativeModuleId, ms: module.diagnostic().duration }))
          .sort((left, right) => right.ms - left.ms).slice(0, 5),
        lacks: skipped.map((test) => test.meta().lacks ?? "no reason"),
        failures: [
          ...modules.flatMap(failuresIn),
          ...unhandled.map((error) => ({
            name: `${error.type ?? "Unhandled error"} in ${error.VITEST_TEST_PATH ?? "no file"}`,
            text: textOf(error),
          })),
        ],
      }),
    );
  }
}

/** The failures of a file that cannot be loaded, of hooks, and of tests. */
function failuresIn(module) {
  const name = module.relativeModuleId;
  const inside = [...module.children.allSuites(), ...inFailed(module.children.allTests())];
  return [
    ...module.errors().map((error) => ({ name, text: textOf(error) })),
    ...inside.flatMap((part) =>
      (part.type === "suite" ? part.errors() : part.result().errors).map((error) => ({
        name: `${name}: ${part.fullName}`,
        text: textOf(error),
      }))
    ),
  ];
}

function inFailed(tests) {
  return [...tests].filter((test) => test.result().state === "failed");
}

/** The error's message, the first place of ours, and the difference. */
function textOf({ name = "Error", message = "", diff, stacks = [] }) {
  const place = stacks.find(({ file }) => !/node_modules|ext:/.test(file));
  const at = place === undefined ? [] : [`at ${place.file}:${place.line}`];
  return [`${name}: ${message}`, ...at, ...(diff === undefined ? [] : [diff])].join("\n");
}
