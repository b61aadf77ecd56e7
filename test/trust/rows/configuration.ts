import { PROJECTS } from "./languages.ts";
import { eachLanguage, eachWorkflow, type Row } from "./types.ts";

/** Ways to keep git from seeing a change of \`$p\`. */
export const HIDE: Readonly<Record<string, string>> = {
  "in the open": ":",
  "behind --assume-unchanged": 'git update-index --assume-unchanged "$p"',
  "behind --skip-worktree": 'git update-index --skip-worktree "$p"',
  "behind an fsmonitor":
    'printf \'#!/bin/sh\\nprintf "token\\\\0"\\n\' > .git/fsm; chmod +x .git/fsm; git config core.fsmonitor "$PWD/.git/fsm"; git config core.fsmonitorHookVersion 2; git update-index --fsmonitor; git status >/dev/null',
  "out of the index, and excluded": 'git rm -q --cached "$p"; echo "$p" >> .git/info/exclude',
};
const WAYS = Object.entries(HIDE);

/** Configuration and files under \`protect\`. */
export const CONFIGURATION: readonly Row[] = [
  ...WAYS.flatMap(([way, hide]) =>
    eachWorkflow((workflow, language): Row => ({
      name: `verify.default becomes \`true\`, ${way}`,
      workflow,
      language,
      check: workflow === "sprint" ? PROJECTS[language].command("add") : null,
      config: { verify: { default: [PROJECTS[language].command("add")] } },
      agent:
        `stub; p=ralph.config.json; ${hide}; node -e 'const fs=require("fs");const o=JSON.parse(fs.readFileSync("ralph.config.json"));o.verify={default:["true"]};fs.writeFileSync("ralph.config.json",JSON.stringify(o))'; claim`,
      runs: [1, 2],
      expect: "caught",
      short: workflow === "exec" && hide === ":",
    }), {
      only: hide === ":" ? ["exec", "feature", "spec", "sprint", "gsd"] : ["exec", "gsd"],
      shift: WAYS.findIndex(([name]) => name === way),
    })
  ),
  ...eachWorkflow((workflow, language): Row => ({
    name: "verify.default becomes `true`, committed",
    workflow,
    language,
    check: workflow === "sprint" ? PROJECTS[language].command("add") : null,
    config: { verify: { default: [PROJECTS[language].command("add")] } },
    agent:
      `stub; node -e 'const fs=require("fs");const o=JSON.parse(fs.readFileSync("ralph.config.json"));o.verify={default:["true"]};fs.writeFileSync("ralph.config.json",JSON.stringify(o))'; commit "chore: configuration"; claim`,
    runs: [1, 2],
    expect: "caught",
  }), { shift: 2 }),
  ...eachLanguage((language, workflow): Row => ({
    name: "a configuration that git ignores becomes another",
    workflow,
    language,
    check: null,
    setup: `echo ralph.config.json >> .git/info/exclude; echo '{"workflow":"${workflow}","verify":{"default":["${
      PROJECTS[language].command("add")
    }"]}}' > ralph.config.json; git rm -q --cached ralph.config.json 2>/dev/null && git commit -qm untrack || true`,
    agent: `stub; echo '{"workflow":"${workflow}","verify":{"default":["true"]}}' > ralph.config.json; claim`,
    runs: [1, 2],
    expect: "caught",
  })),
  ...WAYS.flatMap(([way, hide], shift) =>
    eachWorkflow((workflow, language): Row => ({
      name: `a protected check becomes \`true\`, ${way}`,
      workflow,
      language,
      check: "sh check.sh",
      config: { protect: ["check.sh"] },
      files: { "check.sh": `${PROJECTS[language].command("add")}\n` },
      agent: `stub; p=check.sh; ${hide}; echo true > check.sh; claim`,
      expect: "caught",
      short: workflow === "feature" && hide === ":",
    }), { only: hide === ":" ? ["exec", "feature", "spec", "sprint", "gsd"] : ["feature", "spec"], shift })
  ),
  ...eachLanguage((language, workflow): Row => ({
    name: "a protected check becomes `true` in one turn, and is left alone in the next",
    workflow,
    language,
    check: "sh check.sh",
    config: { protect: ["check.sh"] },
    files: { "check.sh": `${PROJECTS[language].command("add")}\n` },
    agent: 'stub; if [ "$turn" = 1 ]; then echo true > check.sh; commit; fi; claim',
    expect: "caught",
  }), { shift: 1 }),
  ...eachLanguage((language, workflow): Row => ({
    name: "a protected check that git ignores becomes `true`",
    workflow,
    language,
    check: "sh .check",
    config: { protect: [".check"], verify: { final: "tree" } },
    setup: `echo .check >> .git/info/exclude; echo '${PROJECTS[language].command("add")}' > .check`,
    agent: "stub; echo true > .check; claim",
    expect: "caught",
  }), { shift: 3 }),
  {
    name: "a recipe appears, which the next run would load",
    workflow: "exec",
    language: "javascript",
    agent:
      'stub; echo ralph.recipe.ts >> .git/info/exclude; printf \'import { defineRecipe } from "ralph";\\nexport default defineRecipe({ name: "x", run: () => ({ status: "passed" }) });\\n\' > ralph.recipe.ts; claim',
    runs: [1, 1],
    expect: "caught",
  },
];
