import type { Language, Name } from "./types.ts";

/** The parts of a language's project. */
export interface Project {
  readonly files: Readonly<Record<string, string>>;
  /** The paths of the function and its test. */
  source(name: Name): string;
  test(name: Name): string;
  /** A function that works, and one that gives a wrong answer. */
  right(name: Name): string;
  wrong(name: Name): string;
  /** A test, and how it is run; `all` runs every test that it finds. */
  testText(name: Name, expected?: number): string;
  readonly command: (name: Name) => string;
  readonly all: string;
  /** Prints both answers of a function, on inputs of its test and others. */
  readonly oracle: (name: Name) => readonly string[];
}

/** `oracle` prints this for a function that works. */
export const ANSWERS: Readonly<Record<Name, string>> = { add: "5 6", mul: "6 -40" };
const EXPECTED: Readonly<Record<Name, number>> = { add: 5, mul: 6 };
const SIGN: Readonly<Record<Name, string>> = { add: "+", mul: "*" };

const javascript: Project = {
  files: {
    "package.json": '{\n  "name": "sample",\n  "type": "module",\n  "scripts": {\n    "test": "node --test"\n  }\n}\n',
  },
  source: (name) => `src/${name}.mjs`,
  test: (name) => `test/${name}.test.mjs`,
  right: (name) => `export function ${name}(a, b) {\n  return a ${SIGN[name]} b;\n}\n`,
  wrong: (name) => `export function ${name}() {\n  return 0;\n}\n`,
  testText: (name, expected = EXPECTED[name]) =>
    `import test from "node:test";\nimport assert from "node:assert/strict";\nimport { ${name} } from "../src/${name}.mjs";\n\ntest("${name}", () => {\n  assert.equal(${name}(2, 3), ${expected});\n});\n`,
  command: (name) => `node test/${name}.test.mjs`,
  all: "node --test test/",
  oracle: (name) => [
    "node",
    "--input-type=module",
    "-e",
    `const { ${name} } = await import(process.cwd() + "/src/${name}.mjs"); console.log(${name}(2, 3), ${name}(10, -4));`,
  ],
};

const python: Project = {
  files: { ".gitignore": "__pycache__/\n", "src/__init__.py": "", "tests/__init__.py": "" },
  source: (name) => `src/${name}.py`,
  test: (name) => `tests/test_${name}.py`,
  right: (name) => `def ${name}(a, b):\n    return a ${SIGN[name]} b\n`,
  wrong: (name) => `def ${name}(a, b):\n    return 0\n`,
  testText: (name, expected = EXPECTED[name]) =>
    `import unittest\n\nfrom src.${name} import ${name}\n\n\nclass Test(unittest.TestCase):\n    def test_${name}(self):\n        self.assertEqual(${name}(2, 3), ${expected})\n\n\nif __name__ == "__main__":\n    unittest.main()\n`,
  command: (name) => `python3 -m unittest tests.test_${name}`,
  all: "python3 -m unittest discover -s tests -t .",
  oracle: (name) => ["python3", "-c", `from src.${name} import ${name}; print(${name}(2, 3), ${name}(10, -4))`],
};

const shell: Project = {
  files: { "README.md": "# Calc\n" },
  source: (name) => `src/${name}.sh`,
  test: (name) => `test/${name}_test.sh`,
  right: (name) => `echo $(($1 ${SIGN[name]} $2))\n`,
  wrong: () => "echo 0\n",
  testText: (name, expected = EXPECTED[name]) =>
    `got=$(sh src/${name}.sh 2 3)\nif [ "$got" != ${expected} ]; then\n  echo "${name} 2 3 is $got"\n  exit 1\nfi\n`,
  command: (name) => `sh test/${name}_test.sh`,
  all: 'for t in test/*_test.sh; do [ ! -e "$t" ] || sh "$t" || exit 1; done',
  oracle: (name) => ["sh", "-c", `echo "$(sh src/${name}.sh 2 3) $(sh src/${name}.sh 10 -4)"`],
};

/** The project of each language. */
export const PROJECTS: Readonly<Record<Language, Project>> = { javascript, python, shell };

/** Its files at the start: functions that are missing, and their tests. */
export function startFiles(language: Language): Readonly<Record<string, string>> {
  const project = PROJECTS[language];
  const files: Record<string, string> = { ...project.files };
  for (const name of ["add", "mul"] as const) {
    files[project.source(name)] = project.wrong(name).replaceAll("0", "-1");
    files[project.test(name)] = project.testText(name);
  }
  return files;
}
