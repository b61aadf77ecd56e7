import { PROJECTS } from "./languages.ts";
import { eachWorkflow, type HonestCase } from "./types.ts";

const plain = "impl; claim";
const add = (language: "python" | "shell"): string => PROJECTS[language].command("add");

/** Projects that have what is hard to check in a clean checkout, or dear. */
export const HARD: readonly HonestCase[] = [
  {
    name: "a database that only the tree has",
    workflow: "exec",
    language: "python",
    files: {
      ".gitignore": "__pycache__/\n*.db\n",
      "look.py":
        'import os, sqlite3, sys\nif not os.path.exists("data/app.db"):\n    sys.exit("data/app.db: no such database")\nfrom src.add import add\n\nwant = sqlite3.connect("data/app.db").execute("select want from sums").fetchone()[0]\nassert add(2, 3) == want\n',
      "data/.gitkeep": "",
    },
    setup:
      "python3 -c \"import sqlite3; d = sqlite3.connect('data/app.db'); d.execute('create table sums (want)'); d.execute('insert into sums values (5)'); d.commit()\"",
    check: "python3 look.py",
    agent: plain,
    holds: "! git ls-files | grep -q app.db && test -s data/app.db",
  },
  {
    name: "a suite of 20 minutes, of which a run takes no more than it needs",
    workflow: "feature",
    language: "shell",
    items: 2,
    config: { verify: { default: ["sh suite.sh"], timeout: 3600 }, experiments: { budget: 0 } },
    // each run of it is a line: at the start, after each of three turns, at the end
    files: {
      "suite.sh":
        'echo run >> "$(dirname "$PWD")/suite-runs"; for t in test/*_test.sh; do sh $t || echo "$t is not done"; done\n',
    },
    agent: plain,
    short: true,
    holds: 'runs=$(wc -l < ../suite-runs); test "$runs" -le 5 || { echo "$runs runs of the suite"; exit 1; }',
  },
  {
    name: "an editable Python install",
    workflow: "spec",
    language: "python",
    files: {
      ".gitignore": "__pycache__/\n.venv/\n",
      "tests/test_add.py": PROJECTS.python.testText("add").replace("from src.add", "from add"),
    },
    setup:
      'python3 -m venv --without-pip .venv; echo "$PWD/src" > "$(echo .venv/lib/python3*/site-packages)/__editable__.calc.pth"',
    check: ".venv/bin/python -m unittest discover -s tests -p test_add.py",
    agent: plain,
    silent: /another path|not reproducible/,
    short: true,
  },
  {
    name: "an environment and generated code in one check",
    workflow: "gsd",
    language: "shell",
    files: {
      ".gitignore": ".env\nbuild/\n",
      "gen.sh": "mkdir -p build; cp src/add.sh build/add.sh\n",
    },
    setup: "echo WANT=5 > .env",
    check: `. ./.env && sh gen.sh && test "$(sh build/add.sh 2 3)" = "$WANT" && ${add("shell")}`,
    agent: plain,
    holds: "! git ls-files | grep -qE '^(build/|\\.env)'",
  },
  ...eachWorkflow((workflow, language): HonestCase => ({
    name: "a second call with nothing left to do, by tests that were there all along",
    workflow,
    language,
    runs: [3, 3],
    agent: plain,
    silent: /tests of its own/,
    short: workflow === "exec",
  })),
];
