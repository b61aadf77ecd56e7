#!/bin/bash
# The floor: a shell loop that does the same work. Picks a story, prompts, runs the agent with its output in a log, looks
# for the marker, verifies, marks the story by an atomic rename, commits.
prd=scripts/ralph/prd.json
mkdir -p .loop
count=0
while :; do
  [ -n "$MAX" ] && [ $((count += 1)) -gt "$MAX" ] && exit 0
  id=$(awk -F'"' '$2 == "id" {id = $4} $2 == "passes" && /false/ {print id; exit}' "$prd") || exit 3
  [ -n "$id" ] || exit 0
  { cat PROMPT.md; printf 'Story: %s\n' "$id"; } | sh -c "$AGENT" > .loop/last.log 2>&1 || exit 4
  grep -q '<promise>COMPLETE</promise>' .loop/last.log || exit 4
  sh -c 'test -d work' > .loop/verify.log 2>&1 || exit 4
  awk -F'"' -v want="$id" '$2 == "id" {id = $4} $2 == "passes" && id == want {sub(/false/, "true")} {print}' "$prd" > "$prd.tmp" && mv "$prd.tmp" "$prd" || exit 5
  git add -A && git commit -q -m "$id" || exit 6
done
