import { NAMED } from "./tests.ts";
import { eachWorkflow, type HonestCase, type Language, type Row } from "./types.ts";

/** A check that runs what is made, and then a test. */
const BOTH: Readonly<Record<Language, string>> = {
  javascript: "node src/add.mjs && node test/add.test.mjs",
  python: "python3 src/add.py; python3 -m unittest tests.test_add",
  shell: "for f in src/add.sh test/add_test.sh; do sh $f 2 3 || exit 1; done",
};

/** A check runs a program beside a test, which the test judges: it was missing before, and nobody changed a test. */
export const WORK_BESIDE_TESTS: readonly HonestCase[] = eachWorkflow((workflow, language): HonestCase => ({
  name: "a program in src that a check runs beside a test",
  workflow,
  language,
  check: BOTH[language],
  flags: ["--strict", "--no-sandbox"],
  agent: "impl; claim",
  silent: NAMED,
  short: workflow === "exec",
})).filter(({ language }) => language !== "shell").concat(
  eachWorkflow((workflow): HonestCase => ({
    name: "a program in src that a check runs beside a test",
    workflow,
    language: "javascript",
    check: BOTH.javascript,
    agent: "impl; claim",
    silent: NAMED,
  })),
);

/** In a folder of what is made, and yet what decides: a checker by its name, what runs a test, what decides whether one runs. */
const DECIDES: readonly (readonly [name: string, check: string, path: string, text: string, broken: string])[] = [
  [
    "a checker in src beside a test",
    "node src/verify.mjs && node test/zero.test.mjs",
    "src/verify.mjs",
    'import { add } from "./add.mjs";\nif (add(2, 3) !== 5) process.exit(1);\n',
    "",
  ],
  [
    "a program in src that runs the test it is given",
    "node src/cli.mjs test/add.test.mjs && node test/zero.test.mjs",
    "src/cli.mjs",
    "await import(`${process.cwd()}/${process.argv[2]}`);\n",
    "",
  ],
  [
    "a program in src that decides whether a test runs",
    "if node src/old.mjs; then node test/add.test.mjs; fi && node test/zero.test.mjs",
    "src/old.mjs",
    "process.exit(0);\n",
    "process.exit(1);",
  ],
];

export const BESIDE_TESTS: readonly Row[] = DECIDES.flatMap(([name, check, path, text, broken], index) =>
  eachWorkflow((workflow): Row => ({
    name,
    workflow,
    language: "javascript",
    check,
    files: { [path]: text, "test/zero.test.mjs": "" },
    agent: `stub; echo '${broken}' > ${path}; claim`,
    expect: "known", // a checker that looks like product code: listed in the promise
    short: workflow === "exec" && index === 0,
  }))
);
