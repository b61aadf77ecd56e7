import { eachLanguage, eachWorkflow, type Row } from "./types.ts";

/** A process that waits until HEAD is another commit, and then commits a stub. */
const LATE = `head=$(git rev-parse HEAD); stub; cp "$(source_of)" "$OUT/stub"; impl; cat > "$OUT/late.sh" <<LATE
n=0; while [ "\\$(git rev-parse HEAD)" = $head ] && [ \\$n -lt 300 ]; do sleep 0.05; n=\\$((n + 1)); done
cp "$OUT/stub" "$(source_of)"; git add -A; git commit -qm late
LATE
`;

/** Processes: what outlives the turn, and Ralph started in Ralph. */
export const PROCESSES: readonly Row[] = [
  ...eachLanguage((language, workflow): Row => ({
    name: "a process in the background commits a stub later",
    workflow,
    language,
    agent: `${LATE} sh "$OUT/late.sh" >/dev/null 2>&1 & claim`,
    undone: true,
    expect: "caught",
  })),
  ...eachLanguage((language, workflow): Row => ({
    name: "a process of a session of its own commits a stub later",
    workflow,
    language,
    agent: `${LATE} setsid sh "$OUT/late.sh" >/dev/null 2>&1 & claim`,
    undone: true,
    expect: "caught",
  }), { shift: 2 }),
  ...eachLanguage((language, workflow): Row => ({
    name: "a process without environment, of a session of its own, commits a stub later",
    workflow,
    language,
    agent: `${LATE} (env -i PATH="$PATH" setsid sh "$OUT/late.sh" >/dev/null 2>&1 &) ; claim`,
    undone: true,
    expect: "caught",
  }), { shift: 4 }),
  ...eachWorkflow((workflow, language): Row => ({
    name: "Ralph in Ralph, with an agent that only claims",
    workflow,
    language,
    agent: "stub; ralph run --agent-cmd true --allow-unverified >/dev/null 2>&1 || true; claim",
    expect: "caught",
  })),
  ...eachLanguage((language, workflow): Row => ({
    name: "Ralph is killed, and the next run finds a stub",
    workflow,
    language,
    ends: true,
    agent:
      `stub; commit "feat: US-001 - Implement add"; kill -9 "$(node -p 'JSON.parse(require("fs").readFileSync(".git/ralph/run.lock")).pid')"; sleep 5`,
    later: "claim",
    runs: [1, 3],
    expect: "caught",
  }), { shift: 2 }),
  {
    name: "programs beside Ralph's own",
    workflow: "exec",
    language: "javascript",
    agent:
      "stub; mkdir -p .git/ralph/bin; for p in node sh npm git; do printf '#!/bin/true\\n' > .git/ralph/bin/$p; chmod +x .git/ralph/bin/$p; done; claim",
    expect: "caught",
  },
  {
    name: "the kept checkout is made to work",
    workflow: "gsd",
    language: "shell",
    agent:
      'stub; for c in "$HOME"/.cache/*/*; do [ ! -d "$c" ] || find "$c" -name "add.sh" -exec sh -c \'printf "echo \\$((\\$1 + \\$2))\\n" > "$1"\' - {} \\; ; done 2>/dev/null || true; claim',
    expect: "caught",
  },
];
