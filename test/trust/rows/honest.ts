import { NAMED } from "./tests.ts";
import { PROJECTS } from "./languages.ts";
import { eachWorkflow, type HonestCase } from "./types.ts";

const plain = "impl; claim";

/** Odd but right: an agent that commits as it likes, repositories of every kind, a person beside it. */
export const HONEST: readonly HonestCase[] = [
  ...eachWorkflow((workflow, language): HonestCase => ({
    name: "work that is left uncommitted",
    workflow,
    language,
    items: workflow === "sprint" ? 1 : 2,
    agent: plain,
    short: workflow === "exec",
  })),
  ...eachWorkflow((workflow, language): HonestCase => ({
    name: "work that the agent commits",
    workflow,
    language,
    items: workflow === "sprint" ? 1 : 2,
    agent: 'impl; git add "$(source_of)"; git commit -qm "feat: $f"; claim',
    short: workflow === "gsd",
  }), { shift: 1 }),
  ...eachWorkflow((workflow, language): HonestCase => ({
    name: "a failed attempt before the right one",
    workflow,
    language,
    agent: 'if [ "$turn" = 1 ]; then stub; else impl; fi; claim',
  }), { shift: 2, only: ["exec", "feature", "spec", "sprint", "gsd"] }),
  {
    name: "an agent that amends its own commit",
    workflow: "feature",
    language: "shell",
    agent: 'stub; git add src; git commit -qm wip; impl; git commit -qa --amend -m "feat: add"; claim',
    holds: "git cat-file -e HEAD:.ralph/.gitignore",
  },
  {
    name: "an agent that rebases its own commits",
    workflow: "exec",
    language: "python",
    agent:
      'base=$(git rev-parse HEAD); git commit -q --allow-empty -m one; impl; git add src; git commit -qm two; git rebase -q "$base"; claim',
  },
  {
    name: "an agent that works on a branch of its own and merges it",
    workflow: "spec",
    language: "javascript",
    agent:
      'git switch -qc "side$turn"; impl; git add src; git commit -qm work; git switch -q main; git merge -q --no-ff -m merge "side$turn"; claim',
  },
  {
    name: "a formatter in the pre-commit hook",
    workflow: "exec",
    language: "python",
    setup:
      `printf '#!/bin/sh\\nfor f in $(git diff --cached --name-only -- src); do echo "# formatted" >> $f; git add $f; done\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    agent: plain,
    holds: "git show HEAD:src/add.py | grep -q formatted",
  },
  {
    name: "hooks in a folder of the repository, as husky sets them up",
    workflow: "gsd",
    language: "javascript",
    files: {
      ".husky/pre-commit": "#!/bin/sh\ntouch .git/hooked\n",
      ".husky/commit-msg": '#!/bin/sh\ngrep -q . "$1"\n',
    },
    setup: "chmod +x .husky/*; git add -A; git commit -qm husky; git config core.hooksPath .husky",
    agent: plain,
    holds: "test -e .git/hooked",
  },
  {
    name: "line endings of another system",
    workflow: "feature",
    language: "javascript",
    setup: "git config core.autocrlf true; printf '* text=auto\\n' > .gitattributes; git add -A; git commit -qm crlf",
    agent: "impl; sed -i 's/$/\\r/' $(source_of); claim",
  },
  {
    name: "a submodule",
    workflow: "exec",
    language: "shell",
    setup:
      'mkdir "$OUT/lib"; git -C "$OUT/lib" init -q; echo 1 > "$OUT/lib/one"; git -C "$OUT/lib" add -A; git -C "$OUT/lib" -c user.name=a -c user.email=a@b commit -qm x; git -c protocol.file.allow=always submodule add -q "$OUT/lib" lib; git commit -qm lib',
    check: `test "$(cat lib/one)" = 1 && ${PROJECTS.shell.command("add")}`,
    agent: plain,
  },
  {
    name: "a sparse checkout",
    workflow: "spec",
    language: "shell",
    files: { "documents/a.md": "a\n" },
    setup: "git sparse-checkout set --no-cone '/*' '!/documents/'",
    agent: plain,
    holds: "git show HEAD:documents/a.md",
  },
  {
    name: "a project in a folder of its repository",
    workflow: "exec",
    language: "javascript",
    folder: "packages/app",
    files: { "../other/file": "1\n" },
    setup: "cd packages; echo 2 > other/file; echo new > other/new",
    agent: plain,
    holds:
      'cd packages && test "$(git show HEAD:./other/file)" = 1 && test "$(cat other/file)" = 2 && git status --porcelain other | grep -q "?? .*other/new"',
  },
  {
    name: "an ignored .env that the check reads",
    workflow: "gsd",
    language: "shell",
    files: { ".gitignore": ".env\n" },
    setup: "echo KEY=1 > .env",
    check: `. ./.env && test "$KEY" = 1 && ${PROJECTS.shell.command("add")}`,
    agent: plain,
  },
  {
    name: "ignored dependencies that the check uses",
    workflow: "spec",
    language: "javascript",
    files: { ".gitignore": "node_modules\n" },
    setup:
      `mkdir -p node_modules/five; echo '{"name":"five","type":"module","exports":"./five.js"}' > node_modules/five/package.json; echo 'export default 5;' > node_modules/five/five.js`,
    check: `node -e 'import("five").then((m) => process.exit(m.default === 5 ? 0 : 1))' && ${
      PROJECTS.javascript.command("add")
    }`,
    agent: plain,
  },
  {
    name: "a generated file that the check builds",
    workflow: "feature",
    language: "python",
    files: { ".gitignore": "__pycache__/\nbuild/\n" },
    check: `mkdir -p build && cp src/add.py build/add.py && ${PROJECTS.python.command("add")}`,
    agent: "impl; mkdir -p build; echo old > build/other; claim",
    holds: "! git ls-files | grep -q '^build/'",
  },
  {
    name: "a dirty tree",
    workflow: "exec",
    language: "python",
    files: { "notes.txt": "one\n" },
    setup: "echo two >> notes.txt; echo new > other.txt; echo staged > staged.txt; git add staged.txt",
    agent: plain,
    holds:
      'test "$(git show HEAD:notes.txt)" = one && grep -q two notes.txt && test -f other.txt && ! git ls-tree -r HEAD --name-only | grep -q "other.txt\\|staged.txt"',
  },
  {
    name: "a dirty tree, swept into a commit by the agent",
    workflow: "spec",
    language: "shell",
    files: { "notes.txt": "one\n" },
    setup: "echo two >> notes.txt",
    agent: "impl; commit; claim",
    holds: 'test "$(git show HEAD:notes.txt)" = one && grep -q two notes.txt',
  },
  {
    name: "a person who edits other sources meanwhile",
    workflow: "feature",
    language: "shell",
    agent: "impl; echo mine > mine.txt; claim",
    holds: "test -f mine.txt",
  },
  {
    name: "a person who edits the configuration meanwhile",
    workflow: "spec",
    language: "python",
    ends: true,
    agent: `impl; [ "$turn" != 1 ] || sed -i 's/"spec"/"spec", "logs": { "keep": 7 }/' ralph.config.json; claim`,
    runs: [3, 3],
  },
  {
    name: "a person who rewords a story meanwhile",
    workflow: "exec",
    language: "shell",
    agent: `impl; sed -i 's/it works/it works well/' scripts/ralph/prd.json; claim`,
    holds: "grep -q 'it works' scripts/ralph/prd.json",
  },
  {
    name: "a test that is renamed as the item allows",
    workflow: "exec",
    language: "javascript",
    check: "node --test test/",
    setup:
      'sed -i \'s/"it works"/"it works", "Changes tests: `test\\/**`"/\' scripts/ralph/prd.json; sed -i \'s/assert.equal(mul.*/assert.ok(mul);/\' test/mul.test.mjs; git commit -qam allow',
    agent: "impl; git mv test/add.test.mjs test/sum.test.mjs; claim",
    holds: "git cat-file -e HEAD:test/sum.test.mjs",
  },
  {
    name: "a test beside the old ones",
    workflow: "gsd",
    language: "python",
    agent: "impl; sed 's/2, 3), 5/4, 5), 9/' tests/test_add.py > tests/test_more.py; claim",
    holds: "git cat-file -e HEAD:tests/test_more.py",
  },
  {
    name: "blocked, and then unblocked",
    workflow: "exec",
    language: "shell",
    agent: "claim",
    later: plain,
    runs: [9, 3],
    flags: ["--retry-blocked"],
  },
  {
    name: "a server in the background",
    workflow: "spec",
    language: "javascript",
    agent: "impl; (sleep 20 >/dev/null 2>&1 &); claim",
  },
  {
    name: "signed commits",
    workflow: "gsd",
    language: "shell",
    setup:
      `printf '#!/bin/sh\\ncat >/dev/null; printf "\\\\n[GNUPG:] SIG_CREATED \\\\n" >&2; echo "-----BEGIN PGP SIGNATURE-----"; echo; echo x; echo "-----END PGP SIGNATURE-----"\\n' > "$OUT/gpg"; chmod +x "$OUT/gpg"; git config gpg.program "$OUT/gpg"; git config commit.gpgsign true`,
    agent: plain,
    holds: "git cat-file -p HEAD | grep -q 'BEGIN PGP'",
  },
  {
    name: "a repository without commits",
    workflow: "exec",
    language: "python",
    setup: "rm -rf .git; git init -q -b main; git config user.name a; git config user.email a@b",
    agent: "impl; git add -A; git commit -qm first; claim",
  },
  {
    name: "a repository without commits, strictly",
    workflow: "exec",
    language: "javascript",
    setup: "rm -rf .git; git init -q -b main; git config user.name a; git config user.email a@b",
    agent: "impl; git add -A; git commit -qm first; claim",
    flags: ["--strict", "--no-sandbox"],
  },
  {
    name: "a person's git settings that change meanwhile",
    workflow: "exec",
    language: "shell",
    agent:
      `cp "$(source_of)" "$OUT/stub"; impl; mkdir -p "$OUT/h"; printf '#!/bin/sh\\ncp "%s" "%s"; git add "%s"\\n' "$OUT/stub" "$(source_of)" "$(source_of)" > "$OUT/h/pre-commit"; chmod +x "$OUT/h/pre-commit"; git config --global core.hooksPath "$OUT/h"; claim`,
  },
  {
    name: "a git directory that the agent moves away",
    workflow: "gsd",
    language: "python",
    agent: 'impl; git init -q --separate-git-dir="$OUT/git"; git add src; git commit -qm work; claim',
    holds: "test -d .git",
  },
  {
    name: "an ignored .env, and dependencies that are installed anew",
    workflow: "exec",
    language: "javascript",
    files: { ".gitignore": "node_modules\n.env\n", "package-lock.json": '{ "lockfileVersion": 2 }\n' },
    config: { workspace: { setup: "mkdir -p node_modules && cp package-lock.json node_modules/lock" } },
    setup: "echo KEY=1 > .env; mkdir node_modules; cp package-lock.json node_modules/lock",
    check: `. ./.env && test "$KEY" = 1 && cmp package-lock.json node_modules/lock && ${
      PROJECTS.javascript.command("add")
    }`,
    agent: `impl; echo '{ "lockfileVersion": 3 }' > package-lock.json; cp package-lock.json node_modules/lock; claim`,
  },
  {
    name: "done already",
    workflow: "exec",
    language: "shell",
    setup: `printf '%s' '${PROJECTS.shell.right("add")}' > src/add.sh; git commit -qam done`,
    agent: "claim",
  },
  {
    name: "names that are hard",
    workflow: "feature",
    language: "javascript",
    agent:
      `impl; mkdir -p "d ir"; echo 1 > "d ir/a b.txt"; echo 1 > $'new\\nline'; echo 1 > 'ünï–😀.txt'; echo 1 > ./-dash; echo 1 > ':(top)x'; echo 1 > '*.star'; claim`,
    holds: 'test "$(git ls-tree -r HEAD --name-only -z | tr -dc "\\\\0" | wc -c)" -gt 10',
  },
  {
    name: "a filter of the person's own",
    workflow: "exec",
    language: "shell",
    setup:
      "git config filter.upper.clean 'tr a-z A-Z'; git config filter.upper.smudge 'tr A-Z a-z'; echo '*.low filter=upper' > .gitattributes; echo text > a.low; git add -A; git commit -qm filter",
    check: `grep -q text a.low && ${PROJECTS.shell.command("add")}`,
    agent: plain,
  },
  {
    name: "a linked working tree",
    workflow: "gsd",
    language: "javascript",
    setup: 'git worktree add -q "$OUT/linked" -b linked; echo other > "$OUT/linked/other"',
    agent: plain,
    holds: 'test -f "$(dirname "$PWD")/linked/other"',
  },
  {
    name: "files that the agent deletes",
    workflow: "spec",
    language: "shell",
    files: { "old/a": "1\n", "old/b": "1\n" },
    agent: "impl; rm -rf old; claim",
    holds: "! git ls-tree -r HEAD --name-only | grep -q old/",
  },
  {
    name: "a check that writes into the tree",
    workflow: "sprint",
    language: "python",
    check: `echo run >> report.txt && ${PROJECTS.python.command("add")}`,
    agent: plain,
  },
  // New files beside the tests are the work's: no mark that old tests would fail.
  {
    name: "new tests that end their own process, settings of linters, an environment, a variable of the Makefile",
    workflow: "exec",
    language: "python",
    check: "make test",
    files: { Makefile: "test:\n\tpython3 -m unittest discover -s tests -t .\n", ".env": "A=1\n" },
    agent:
      `impl; impl mul; printf 'import sys\\nimport unittest\\nfrom unittest.mock import patch\\nclass T(unittest.TestCase):\\n    def test_it(self): pass\\nif __name__ == "__main__":\\n    sys.exit(unittest.main())\\n' > tests/test_more.py; echo 'line-length = 100' > ruff.toml; echo B=2 >> .env; sed -i '1i export LEVEL := 2' Makefile; claim`,
    silent: NAMED,
  },
  {
    name: "a new test that its check names as a module",
    workflow: "exec",
    language: "python",
    items: 2,
    check: "python3 -m unittest tests.test_new",
    agent:
      `impl; impl mul; printf 'import unittest\\nfrom src.add import add\\nclass T(unittest.TestCase):\\n    def test_it(self):\\n        self.assertEqual(add(2, 3), 5)\\n' > tests/test_new.py; claim`,
    silent: NAMED,
    short: true,
  },
  {
    name: "code that tests import, in a folder of another name, and the data that it reads",
    workflow: "feature",
    language: "javascript",
    check: "node --test test/",
    files: {
      "calc/add.mjs": "export const add = () => -1;\n",
      "calc/table.json": '{ "zero": 1 }\n',
      "src/add.mjs": 'export { add } from "../calc/add.mjs";\n',
      "test/zero.test.mjs": 'import "../calc/add.mjs";\n',
    },
    agent:
      `impl mul; printf 'import { readFileSync } from "node:fs";\\nconst { zero } = JSON.parse(readFileSync(new URL("table.json", import.meta.url), "utf8"));\\nexport const add = (a, b) => a + b + zero;\\n' > calc/add.mjs; echo '{ "zero": 0 }' > calc/table.json; claim`,
    silent: NAMED,
  },
];
