#!/bin/sh
# sh test.sh [NAME]: all tests, or one of them. Exit code 0 when they pass.
cd "$(dirname "$0")" || exit 2
TODO_FILE=${TMPDIR:-/tmp}/todo-test.$$
export TODO_FILE
trap 'rm -f "$TODO_FILE"' EXIT
failed=0

todo() { sh todo.sh "$@" 2>&1; }

check() { # NAME EXPECTED ACTUAL
  if [ "$2" = "$3" ]; then
    echo "ok: $1"
  else
    printf 'FAILED: %s\nexpected:\n%s\ngot:\n%s\n' "$1" "$2" "$3"
    failed=1
  fi
}

test_list() { check "an empty list prints nothing" "" "$(todo list)"; }

test_add() {
  todo add "buy milk"
  check "add appends an open item" "1. [ ] buy milk" "$(todo list)"
}

test_done() {
  todo add milk; todo add bread; todo done 2
  check "done ticks one item and leaves the others" "1. [ ] milk
2. [x] bread" "$(todo list)"
}

test_left() {
  todo add milk; todo add bread; todo done 1
  check "left counts the open items" "1 of 2 left" "$(todo left)"
}

for name in ${1:-list add done left}; do
  rm -f "$TODO_FILE"
  "test_$name"
done
exit $failed
