import { PROJECTS } from "./languages.ts";
import type { Case, Workflow } from "./types.ts";

/** Every workflow's own way to say that the work is done. */
const CLAIM: Readonly<Record<Workflow, string>> = {
  exec: 'echo "<promise>COMPLETE</promise>"',
  feature: 'if [ "$stage" = review ]; then echo "<ralph>VERIFIED</ralph>"; else echo "<ralph>DONE</ralph>"; fi',
  spec: 'if [ "$stage" = review ]; then ralph task accept >/dev/null; else ralph task done "$id" >/dev/null; fi',
  sprint: 'echo "RALPH_COMPLETE: all of it is done"',
  gsd:
    'printf -- "---\\nphase: 01-calc\\nplan: %s\\n---\\n# Summary\\n\\nDone.\\n" "${id#01-}" > .planning/phases/01-calc/$id-SUMMARY.md; echo "###PLAN_COMPLETE###"',
};

/** How a turn that only reviews is known, and what the item's id looks like. */
const REVIEW: Readonly<Record<Workflow, string>> = {
  exec: "false",
  feature: 'grep -q "Final Verification" <<<"$prompt"',
  spec: '[ "${RALPH_STAGE:-}" = VERIFY ]',
  sprint: "false",
  gsd: "false",
};

/**
 * The agent: a bash script. It has `$prompt`, `$turn` (from 1), `$f` (`add` or `mul`), `$id`, `$stage` (`work` or
 * `review`), `$OUT` (outside the repository), and `impl`, `stub`, `source_of`, `test_of`, `claim`. How each turn ended is
 * written to `$OUT/codes`.
 */
export function agentScript(given: Case, body: string): string {
  const { workflow, language } = given;
  const project = PROJECTS[language];
  const write = (name: "add" | "mul", text: string): string => `printf '%s' ${quoted(text)} > ${project.source(name)}`;
  const script = `
OUT=$(cd "$(dirname "$0")/.." && pwd)
cd "\${RALPH_ROOT:-.}"
prompt=$(cat)
turn=$(($(cat "$OUT/turn" 2>/dev/null || echo 0) + 1)); echo $turn > "$OUT/turn"
trap 'echo $? >> "$OUT/codes"' EXIT
set -e
f=$(grep -oE 'Implement (add|mul)' <<<"$prompt" | head -1 | cut -d' ' -f2 || true); f=\${f:-add}
id=$(grep -oE '${workflow === "gsd" ? "01-0[12]" : "(t-[0-9a-z]{4}|US-00[12])"}' <<<"$prompt" | head -1 || true)
stage=work; if ${REVIEW[workflow]}; then stage=review; fi
impl() { case \${1:-$f} in add) ${write("add", project.right("add"))};; *) ${
    write("mul", project.right("mul"))
  };; esac; }
stub() { case \${1:-$f} in add) ${write("add", project.wrong("add"))};; *) ${
    write("mul", project.wrong("mul"))
  };; esac; }
source_of() { case \${1:-$f} in add) echo ${project.source("add")};; *) echo ${project.source("mul")};; esac; }
test_of() { case \${1:-$f} in add) echo ${project.test("add")};; *) echo ${project.test("mul")};; esac; }
claim() { ${CLAIM[workflow]}; }
commit() { git add -A; git commit -qm "\${1:-work}"; }
${given.reviews === true ? "" : 'if [ "$stage" = review ]; then claim; exit 0; fi'}
${body}
`;
  return `exec bash -c ${quoted(script)} "$0"`;
}

/** A word of a shell command. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
