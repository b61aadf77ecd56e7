import { describe, expect, test } from "vitest";
import { reachedBy } from "../../../lib/checks/judging/reached.ts";
import { scriptsRun } from "../../../lib/checks/judging/scripts.ts";
import { type Files, REPOSITORY, treeOf } from "./judging_world.ts";

const PACKAGE = '{"scripts":{"test":"npm run unit","pretest":"sh prepare.sh","unit":"node --test checks/add.mjs"}}';
const MAKE =
  "all: build\n\nbuild:\n\tcc -o app src/app.c\n\ntest: build\n\t@sh run.sh && $(MAKE) unit\n\nunit:\n\t./unit.py -v\n";

const ROWS: readonly (readonly [name: string, command: string, files: Files, reached: readonly string[]])[] = [
  ["a script", "sh scripts/check.sh", { "scripts/check.sh": "" }, ["scripts/check.sh"]],
  ["a script by ./", "./check", { check: "#!/bin/sh\n" }, ["check"]],
  ["scripts of scripts", "bash a.sh", { "a.sh": "set -e\nsh b.sh", "b.sh": "python3 c.py", "c.py": "" }, [
    "a.sh",
    "b.sh",
    "c.py",
  ]],
  ["scripts of a pattern", "npm test", {
    "package.json": '{"scripts":{"test":"run-s check:*","check:a":"sh a","check:b":"concurrently npm:c","c":"sh c"}}',
    a: "",
    c: "",
  }, ["a", "c", "package.json"]],
  ["scripts of all packages of a workspace", "npm test -ws", {
    "package.json": '{"workspaces":["qa"]}',
    "qa/package.json": '{"scripts":{"test":"sh judge"}}',
    "qa/judge": "",
  }, ["qa/judge", "qa/package.json"]],
  ["what variables of a Makefile say", "make", {
    Makefile:
      ".DEFAULT_GOAL := it\nD = qa\nRUN = sh $(D)/a\ndefine more\nsh $(D)/b\nendef\nno:\n\tsh no\nit: x ; $(RUN)\n\t$(call more)\n",
    "qa/a": "",
    "qa/b": "",
    no: "",
  }, ["Makefile", "qa/a", "qa/b"]],
  ["the folder that a command begins in", '"$(pwd)/a" && "$(git rev-parse --show-toplevel)/b" && $PWD/c', {
    a: "#!/bin/sh\n",
    b: "#!/bin/sh\n",
    c: "#!/bin/sh\n",
  }, ["a", "b", "c"]],
  ["files that find runs", "find qa -type f -exec sh {} \\;", { "qa/a": "" }, ["qa/a"]],
  ["no files that find has read", "find qa -type f -exec sh -n {} \\;", { "qa/a": "" }, []],
  ["a folder by its first file", "python3 -m qa && python3 qa/more && node web", {
    "qa/__main__.py": "",
    "qa/more/__main__.py": "",
    "web/index.mjs": "",
  }, ["qa/__main__.py", "qa/more/__main__.py", "web/index.mjs"]],
  [
    "three deep, no deeper",
    "sh 1.sh",
    { "1.sh": "sh 2.sh", "2.sh": "sh 3.sh", "3.sh": "sh 4.sh", "4.sh": "sh 5.sh", "5.sh": "" },
    ["1.sh", "2.sh", "3.sh", "4.sh"],
  ],
  ["a script that looks at what another prints", "sh a.sh", {
    "a.sh": 'got=$(sh src/add.sh 2 3)\n[ "$got" = 5 ]',
    "src/add.sh": "",
  }, ["a.sh"]],
  ["no module that code compares", `python3 -c "from calc import add; assert add(2, 3) == 5"`, { "calc.py": "" }, []],
  ["no module that code fails for", `node -e "import k from './k.mjs'; if (k() !== 3) process.exit(1)"`, {
    "k.mjs": "process.exitCode = 0;",
  }, []],
  ["a module that code only runs", "python3 -c 'import checks'", { "checks.py": "import calc\n", "calc.py": "" }, [
    "checks.py",
  ]],
  ["a module that says itself whether all is well", 'python3 -c "from checker import ok; assert ok()"', {
    "checker.py": "import calc\ndef ok():\n    return calc.add(2, 3) == 5\n",
    "calc.py": "",
  }, ["checker.py"]],
  [
    "a result that is compared with true or 0 only",
    'python3 -c "import checker; exit(0 if checker.left() == 0 else 1)"',
    {
      "checker.py": "from calc import add\ndef left():\n    return add(2, 3) - 5\n",
      "calc.py": "",
    },
    ["checker.py"],
  ],
  [
    "a module in JavaScript that only answers",
    `node -e "import('./c.mjs').then((m) => process.exit(m.ok() ? 0 : 1))"`,
    {
      "c.mjs": "import { add } from './src/add.mjs';\nexport const ok = () => add(2, 3) === 5;",
      "src/add.mjs": "",
    },
    ["c.mjs"],
  ],
  ["a module that reads what is made", "python3 -c 'import c, sys; sys.exit(c.run())'", {
    "c.py": "def run():\n    return 0 if open('out.txt').read() else 1\n",
  }, ["c.py"]],
  ["no module that looks at nothing else", 'python3 -c "from calc import ready; assert ready()"', {
    "calc.py": "def ready():\n    return False\n",
  }, []],
  ["no module that had not what the code takes from it", 'python3 -c "from app import create; assert create()"', {
    "app.py": "import routes\n",
    "routes.py": "",
  }, []],
  ["no module whose result the code looks through", `python3 -c "from page import html; assert 'Add' in html()"`, {
    "page.py": "import parts\ndef html():\n    return ''\n",
    "parts.py": "",
  }, []],
  ["a module that compares", 'python3 -c "import checks; exit(checks.run())"', {
    "checks.py": "def run():\n    assert add(2, 3) == 5\n",
  }, ["checks.py"]],
  [
    "a script that code starts",
    `node -e "spawn('sh', ['./run.sh']).on('exit', process.exit)"`,
    {
      "run.sh": "",
    },
    ["run.sh"],
  ],
  ["scripts that name each other", "sh a.sh", { "a.sh": "sh b.sh", "b.sh": "sh a.sh" }, ["a.sh", "b.sh"]],
  ["a path relative to the script", "sh ci/a.sh", { "ci/a.sh": ". ./b.sh", "ci/b.sh": "" }, ["ci/a.sh", "ci/b.sh"]],
  ["package scripts", "npm test", { "package.json": PACKAGE, "checks/add.mjs": "", "prepare.sh": "" }, [
    "checks/add.mjs",
    "package.json",
    "prepare.sh",
  ]],
  ["package scripts in a folder", "npm --prefix app test", {
    "app/package.json": '{"scripts":{"test":"node run.mjs"}}',
    "app/run.mjs": "",
  }, ["app/package.json", "app/run.mjs"]],
  ["deno tasks", "deno task unit", { "deno.json": '{"tasks":{"unit":{"command":"sh u.sh"}}}', "u.sh": "" }, [
    "deno.json",
    "u.sh",
  ]],
  ["a folder before", "cd app && node checks/a.mjs", { "app/checks/a.mjs": "" }, ["app/checks/a.mjs"]],
  ["make targets, and no compiler's input", "make test", {
    Makefile: MAKE,
    "src/app.c": "",
    "run.sh": "",
    "unit.py": "",
  }, ["Makefile", "run.sh", "unit.py"]],
  ["the first target", "make", { Makefile: "check:\n\tsh run.sh\n", "run.sh": "" }, ["Makefile", "run.sh"]],
  [
    "included makefiles",
    "make check",
    { Makefile: "include ci.mk\ncheck:\n\tsh run.sh\n", "ci.mk": "", "run.sh": "" },
    ["Makefile", "ci.mk", "run.sh"],
  ],
  ["just recipes", "just check", { justfile: "check:\n  @bash run.sh\n", "run.sh": "" }, ["justfile", "run.sh"]],
  ["python modules", "python3 -m checks.run", { "checks/run.py": "" }, ["checks/run.py"]],
  ["pytest cases", "pytest checks/a.py::test_b", { "checks/a.py": "" }, ["checks/a.py"]],
  ["an option's value", "vitest run --config=ci/v.ts", { "ci/v.ts": "" }, ["ci/v.ts"]],
  ["a command in quotes", "bash -c 'cd x; node a.mjs'", { "x/a.mjs": "" }, ["x/a.mjs"]],
  ["a golden file, not what it is compared with", "node run.mjs | diff - want.txt", { "run.mjs": "", "want.txt": "" }, [
    "want.txt",
  ]],
  ["no file that is only looked at", "test -f a.txt && grep -q Usage README.md && git diff --quiet b.txt", {
    "a.txt": "",
    "README.md": "",
    "b.txt": "",
  }, []],
  [
    "nothing whose output is compared",
    'test "$(sh add.sh 2)" = 5 && node cli.mjs --help | grep -q x; x=`sh b.sh`; sh run.sh 2>&1 | tail -5',
    { "add.sh": "", "cli.mjs": "", "b.sh": "", "run.sh": "" },
    ["run.sh"],
  ],
  ["no import of a program", "node a.mjs", { "a.mjs": 'import "./b.mjs";', "b.mjs": "" }, ["a.mjs"]],
  ["cases by a pattern", "for t in checks/*.sh; do sh $t || exit 1; done", { "checks/a.sh": "sh b.sh", "b.sh": "" }, [
    "b.sh",
    "checks/a.sh",
  ]],
  ["cases that find names", "find checks -name '*.sh' | xargs -n1 sh", { "checks/a.sh": "" }, ["checks/a.sh"]],
  ["what find only names", "find checks -name '*.sh' | wc -l", { "checks/a.sh": "" }, []],
  ["a folder that a runner is given", "python3 -m unittest discover -s checks", { "checks/verify_a.py": "" }, [
    "checks/verify_a.py",
  ]],
  [
    "a folder where tests are known by their names",
    "node --test calc",
    { "calc/a.test.mjs": "", "calc/a.mjs": "" },
    [],
  ],
  ["a folder that no runner is given", "python3 -m compileall calc && python3 manage.py test calc", {
    "calc/a.py": "",
    "calc/tests.py": "",
    "manage.py": "",
  }, ["manage.py"]],
  ["no folder of the product", "pytest src", { "src/a.py": "" }, []],
  ["what a link leads to", "sh check.sh", { "check.sh": "-> real/c.sh", "real/c.sh": "sh d.sh", "d.sh": "" }, [
    "check.sh",
    "d.sh",
    "real/c.sh",
  ]],
  ["what is behind a linked folder", "node verify/a.mjs", { verify: "-> qa", "qa/a.mjs": "" }, ["qa/a.mjs"]],
  ["a folder in a variable", "D=checks; node $D/add.mjs", { "checks/add.mjs": "", "add.mjs": "" }, ["checks/add.mjs"]],
  ["names in a loop", "for f in add mul; do node checks/$f.mjs || exit 1; done", {
    "checks/add.mjs": "",
    "checks/mul.mjs": "",
    "checks/neg.mjs": "",
  }, ["checks/add.mjs", "checks/mul.mjs"]],
  ["a variable without a value", "sh $ROOT/ci/run.sh; sh ci/$1.sh", { "ci/run.sh": "", "ci/b.sh": "", "run.sh": "" }, [
    "ci/b.sh",
    "ci/run.sh",
  ]],
  ["a checker whose word is looked at", "node checks/all.mjs | grep -q PASS", { "checks/all.mjs": "" }, [
    "checks/all.mjs",
  ]],
  ["scripts whose output is looked at", "npm test 2>&1 | grep -q 'pass 2'", {
    "package.json": '{"scripts":{"test":"node cli.mjs && sh checks/a.sh"}}',
    "cli.mjs": "",
    "checks/a.sh": "",
  }, ["checks/a.sh", "package.json"]],
  ["nothing that the command itself writes", "node run.mjs > out.txt; diff out.txt want.txt", {
    "run.mjs": "",
    "out.txt": "",
    "want.txt": "",
  }, ["run.mjs", "want.txt"]],
  ["of what is compared, what is called so", "diff got.txt expected.txt", { "got.txt": "", "expected.txt": "" }, [
    "expected.txt",
  ]],
  ["a program in a folder that is put on PATH", "PATH=$PWD/tools:$PATH run-checks add", { "tools/run-checks": "" }, [
    "tools/run-checks",
  ]],
  ["a command that is printed", 'eval "$(cat ci/add)"', { "ci/add": "" }, ["ci/add"]],
  ["a submodule", "sh qa/a.sh", { qa: REPOSITORY }, ["qa"]],
  ["go packages are no files", "go test ./pkg/...", { "pkg/a.go": "" }, []],
];

describe("reachedBy()", () => {
  test.each(ROWS)("%s", async (_, command, files, reached) => {
    expect([...(await reachedBy([command], treeOf(files), (path) => path.includes(".test."))).files].toSorted())
      .toEqual(reached);
  });

  test.each([
    ["lines to be found", "node cli.mjs | grep -qxf want.txt", ["want.txt"]],
    ["rules of jq", "node cli.mjs | jq -e --from-file=rules.jq", ["rules.jq"]],
    ["rules of awk", "node cli.mjs | awk -f rules.awk", ["rules.awk"]],
    ["sums", "node cli.mjs > out.txt && sha256sum --quiet -c sums.txt", ["sums.txt"]],
    ["a printed file beside another output", 'test "$(node cli.mjs)" = "$(cat want.txt)"', ["want.txt"]],
    ["the same without quotes", "[[ $(node cli.mjs) == $(< want.txt) ]]", ["want.txt"]],
    ["the same by variables", 'w=$(cat want.txt); got="$(node cli.mjs)"; [ "$got" = "$w" ]', ["want.txt"]],
    ["a part of it", 'test "$(node cli.mjs | md5sum)" = "$(cut -c1-9 want.txt)"', ["want.txt"]],
    ["a printed pattern", 'grep -q "$(cat want.txt)" out.txt', ["want.txt"]],
    ["what is printed into a comparison", "cat want.txt | diff - out.txt", ["want.txt"]],
    ["input", "node cli.mjs < cases.txt | grep -q 5", ["cases.txt"]],
    ["what a program that is looked at is asked", 'test "$(node cli.mjs --all cases.txt)" = 5', ["cases.txt"]],
    ["a linter's rules", "eslint -c ci/rules.mjs src", ["ci/rules.mjs"]],
    ["nothing that is compared with a literal", 'test "$(cat out.txt)" = 5; grep -c x out.txt; test -f want.txt', []],
    ["nothing that is made", 'test "$(node cli.mjs content/cases.txt)" = 5', []],
  ])("data: %s", async (_, command, data) => {
    const files = ["cli.mjs", "want.txt", "out.txt", "cases.txt", "sums.txt", "rules.jq", "rules.awk", "ci/rules.mjs"];
    const tree = treeOf(Object.fromEntries([...files, "content/cases.txt"].map((path) => [path, ""])));

    expect([...(await reachedBy([command], tree)).data]).toEqual(data);
  });

  test("programs behind variables, wrappers and in scripts are known by name", async () => {
    const files = { "package.json": '{"scripts":{"test":"cross -- vitest run"}}', "a.sh": "pytest -q" };

    const { programs } = await reachedBy(["CI=1 timeout 30 env A=b npm test", "sh a.sh; x=$(jq . a)"], treeOf(files));

    expect([...programs].toSorted()).toEqual(["cross", "jq", "npm", "pytest", "sh"]);
  });

  test("a Makefile cannot fill the memory with what its variables say", () => {
    const text = `A = ${"x".repeat(50_000)}\ntest:\n\techo ${"$(A) ".repeat(10_000)}\n`;

    expect(scriptsRun("Makefile", text, ["test"]).join("\n").length).toBeLessThan(200_000);
  });
});
