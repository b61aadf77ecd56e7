import process from "node:process";
import { follow } from "./end_tree.ts";
import { type Listener, startListener } from "./start_child.ts";

/** Ends what was started here when this process is gone, whatever ended it. */
export interface Watchdog {
  /** Registers a group (negative) or a process (positive). */
  watch(id: number): void;
  unwatch(id: number): void;
  /** This file is touched, if it still holds the mark, once all is over. */
  touchAtEnd(file: string): void;
  /** Sends it home: nothing is left to guard. */
  dismiss(): void;
}

/**
 * At the end of its input (Ralph is gone): SIGTERM, one second, SIGKILL, first to what was registered, then to every
 * carrier of the mark, because agents run their tools in sessions of their own. All stand still meanwhile: a shell whose
 * command ends first would begin its next one.
 */
const SCRIPT = `
trap '' INT TERM HUP
mark=$1
file=
ids=' '
while read -r operation id; do
  case $operation in
    +) ids="$ids$id " ;;
    -) case $ids in *" $id "*) ids="\${ids%%" $id "*} \${ids#*" $id "}" ;; esac ;;
    t) file=$id ;;
    q) exit 0 ;;
  esac
done
carriers() {
  if [ -r /proc/self/environ ]; then
    LC_ALL=C grep -ls -e "$mark" /proc/[0-9]*/environ | sed 's,[^0-9],,g'
  else
    { ps -axEww -o pid=,command= || ps axeww -o pid=,command=; } | sed -n "s/^ *\\([0-9]*\\) .*[A-Z_]*=[^ ]*$mark.*/\\1/p"
  fi 2>/dev/null
}
found=$(carriers)
send() {
  signal=$1
  shift
  for each in STOP "$signal" CONT; do for id in "$@"; do kill "-$each" "$id"; done; done 2>/dev/null
}
send TERM $ids $found
sleep 1
send KILL $ids
for round in 1 2 3 4 5; do
  found=$(carriers)
  [ -z "$found" ] && break
  send KILL $found
done
[ -z "$found" ] && grep -qs -e "$mark" "$file" && touch "$file"
`;

/** One `/bin/sh` for a whole run, started with the first `watch()`. Windows has none: nothing is guarded there. */
export function createWatchdog(mark: string): Watchdog {
  const watched = new Set<number>();
  let shell: Listener | undefined;
  let touched = "";

  function start(): Listener {
    const started = startListener("/bin/sh", ["-c", SCRIPT, "ralph-watchdog", mark]);
    const own = follow(started.pid);
    void started.gone.then(() => {
      own[Symbol.dispose]();
      if (shell === started) shell = undefined;
    });
    return started;
  }

  function tell(line: string): void {
    if (process.platform === "win32") return;
    if (shell === undefined) {
      shell = start();
      for (const each of [touched, ...[...watched].map((id) => `+ ${id}\n`)]) shell.tell(each);
    } else {
      shell.tell(line);
    }
  }

  return {
    watch(id) {
      watched.add(id);
      tell(`+ ${id}\n`);
    },
    unwatch(id) {
      watched.delete(id);
      if (shell !== undefined) tell(`- ${id}\n`);
    },
    touchAtEnd(file) {
      touched = file.includes("\n") ? "" : `t ${file}\n`;
      shell?.tell(touched);
    },
    dismiss() {
      shell?.tell("q\n");
      shell = undefined;
    },
  };
}
