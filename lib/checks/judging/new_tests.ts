/**
 * New tests that may keep the old ones from judging: one that ends the process they share, or changes what they use.
 * What a text looks like decides nothing: the old tests are run without such a file, and their failure is the evidence.
 *
 * @module
 */
import { posix } from "node:path";

/** Runners load them without being told. */
const LOADED_REGEXP =
  /(?:^|\/)(?:__mocks__\/.*|mocha\.opts|junit-platform\.properties|META-INF\/services\/.*|setupTests\.[jt]sx?|(?:spec|test|rails)_helper\.rb|cypress\/support\/.*|features\/(?:environment\.py|support\/.*))$/;

const JAVASCRIPT_REGEXP =
  /\bprocess\s*(?:\.|\[)|\b(?:assert|expect|test|it|describe|globalThis|global|Function|Object|Array|JSON|Math|Number)(?:\.\w+)*\s*=(?![=>])|\bprototype\b|\bdefineProperty\b|\bregisterHooks\b|\bregister\s*\(|^\w+(?:\.\w+)+\s*=(?![=>])|\]\s*=(?![=>])|\bassign\s*\(|\bReflect\b|\bmock\b|["'`](?:node:)?process["'`]/m;
const PYTHON_REGEXP =
  /\b(?:_?exit|quit|abort|atexit|setattr|builtins|__builtins__|settrace|setprofile|excepthook)\b|\bsys\.modules\b|\bdef pytest_|^[ \t]*(?!(?:self|cls)\.)\w+(?:\.\w+)+\s*(?::\s*\w+\s*)?=(?!=)|\bpatch\b|\b(?:exec|eval|vars)\s*\(|__dict__|__setattr__|\b__import__\b/m;
const SHELL_REGEXP =
  /(?:^|[;&|({]|\b(?:then|do|else)\b)\s*(?:exit(?:\s+0)?\s*(?:$|[;&|)}])|exec\s|kill\s|eval\s)|^\s*(?:alias\s|trap\s|set\s+\+|(?:export\s+)?PATH=|hash\s|(?:function\s+)?[\w[]+\s*\(\))/m;
const RUBY_REGEXP =
  /\bexit!?\b|\bat_exit\b|\babort\b|\b(?:class|module)\s+(?:Minitest|RSpec|Test)\b|\balias_method\b|\bdefine_method\b/;
const GO_REGEXP = /\bfunc\s+(?:TestMain|init)\s*\(|\bos\.Exit\b/;

/** By the file's ending. */
const WAYS: Readonly<Record<string, RegExp>> = {
  ".js": JAVASCRIPT_REGEXP,
  ".cjs": JAVASCRIPT_REGEXP,
  ".mjs": JAVASCRIPT_REGEXP,
  ".jsx": JAVASCRIPT_REGEXP,
  ".ts": JAVASCRIPT_REGEXP,
  ".cts": JAVASCRIPT_REGEXP,
  ".mts": JAVASCRIPT_REGEXP,
  ".tsx": JAVASCRIPT_REGEXP,
  ".py": PYTHON_REGEXP,
  ".sh": SHELL_REGEXP,
  ".bash": SHELL_REGEXP,
  ".bats": SHELL_REGEXP,
  ".rb": RUBY_REGEXP,
  ".go": GO_REGEXP,
};

/** A new file that a runner loads by its name alone. Pure. */
export function isLoadedByName(path: string): boolean {
  return LOADED_REGEXP.test(path);
}

/** True where the text of a new test may reach other tests of its process. Pure. */
export function disarms(path: string, text: string): boolean {
  return WAYS[posix.extname(path)]?.test(text) === true;
}
