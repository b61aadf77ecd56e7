import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A small program with tests, a stub to begin with, and a known right solution. */
export interface Task {
  readonly name: string;
  readonly language: "python" | "javascript";
  /** Every file before the work, by its path. */
  readonly files: Readonly<Record<string, string>>;
  /** The file that the work writes. */
  readonly product: string;
  readonly test: string;
  readonly reference: string;
  readonly check: string;
}

/** All tasks of a folder in the layout of Exercism's tracks (`polyglot/…`) and of QuixBugs (`quixbugs/…`). */
export function tasksIn(folder: string, bun: string): readonly Task[] {
  const polyglot = join(folder, "polyglot");
  return [
    ...exercises(join(polyglot, "python/exercises/practice")).flatMap((path) => pythonExercise(path)),
    ...exercises(join(polyglot, "javascript/exercises/practice")).flatMap((path) => javascriptExercise(path, bun)),
    ...quixbugs(join(folder, "quixbugs")),
  ];
}

function exercises(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort().map((name) => join(folder, name)) : [];
}

function pythonExercise(folder: string): readonly Task[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".py"));
  const [test] = names.filter((name) => name.endsWith("_test.py"));
  const [product, ...others] = names.filter((name) => !name.endsWith("_test.py"));
  const reference = join(folder, ".meta/example.py");
  if (test === undefined || product === undefined || others.length > 0 || !existsSync(reference)) return [];
  return [{
    name: `python/${folder.split("/").at(-1)}`,
    language: "python",
    files: Object.fromEntries(names.map((name) => [name, read(join(folder, name))])),
    product,
    test,
    reference: read(reference),
    check: "timeout 30 python3 -m unittest discover -p '*_test.py'",
  }];
}

function javascriptExercise(folder: string, bun: string): readonly Task[] {
  const name = folder.split("/").at(-1) ?? "";
  const [product, test] = [`${name}.js`, `${name}.spec.js`];
  const reference = join(folder, ".meta/proof.ci.js");
  if (![product, test].every((file) => existsSync(join(folder, file))) || !existsSync(reference)) return [];
  return [{
    name: `javascript/${name}`,
    language: "javascript",
    files: {
      [product]: read(join(folder, product)),
      [test]: read(join(folder, test)).replaceAll(/\bx(test|it|describe)\(/g, "$1("),
      "package.json": `${
        JSON.stringify({ name, private: true, type: "module", scripts: { test: `${bun} test` } }, null, 2)
      }\n`,
    },
    product,
    test,
    reference: read(reference),
    check: "timeout 30 npm test --silent",
  }];
}

/** The wrong program is what the work begins with; each has tests of its own in JSON. */
function quixbugs(folder: string): readonly Task[] {
  if (!existsSync(folder)) return [];
  return readdirSync(join(folder, "json_testcases")).sort().flatMap((file): readonly Task[] => {
    const name = file.replace(/\.json$/, "");
    const [wrong, right] = ["python_programs", "correct_python_programs"].map((one) => join(folder, one, `${name}.py`));
    if (wrong === undefined || right === undefined || !existsSync(wrong) || !existsSync(right)) return [];
    const cases = read(join(folder, "json_testcases", file)).trim().split("\n").flatMap(asCase).slice(0, 12);
    if (cases.length === 0) return [];
    return [{
      name: `quixbugs/${name}`,
      language: "python",
      files: { [`${name}.py`]: read(wrong), [`${name}_test.py`]: testOf(name, cases) },
      product: `${name}.py`,
      test: `${name}_test.py`,
      reference: read(right),
      check: "timeout 10 python3 -m unittest discover -p '*_test.py'",
    }];
  });
}

function asCase(line: string): readonly [string, string][] {
  try {
    const [input, expected] = JSON.parse(line) as [unknown, unknown];
    const values = Array.isArray(input) ? input : [input];
    return [[values.map(toPython).join(", "), toPython(expected)]];
  } catch {
    return [];
  }
}

function toPython(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\btrue\b/g, "True").replaceAll(/\bfalse\b/g, "False").replaceAll(
    /\bnull\b/g,
    "None",
  );
}

function testOf(name: string, cases: readonly (readonly [string, string])[]): string {
  const lines = cases.flatMap(([input, expected], index) => [
    `    def test_${index}(self):`,
    `        found = ${name}(${input})`,
    `        self.assertEqual(list(found) if hasattr(found, "__next__") else found, ${expected})`,
    "",
  ]);
  return ["import unittest", `from ${name} import ${name}`, "", `class ${name}Test(unittest.TestCase):`, ...lines].join(
    "\n",
  );
}

function read(path: string): string {
  return readFileSync(path, "utf8");
}

/** A folder with these files; removed by `[Symbol.dispose]`. */
export function folderWith(files: Readonly<Record<string, string>>): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "verdict-"));
  writeFiles(path, files);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Writes files; `null` removes one. */
export function writeFiles(folder: string, files: Readonly<Record<string, string | null>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    if (text === null) rmSync(path, { force: true });
    else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  }
}
