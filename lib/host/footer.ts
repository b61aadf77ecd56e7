/** The lines that stand below all that is written to a terminal. Gives the text to write; writes nothing itself. */
export interface Footer {
  /** Stands these lines there from now on, cut for this many columns; none take it away. */
  show(lines: readonly string[], columns: number): string;
  /** Takes it away, so that text can be written. */
  lift(): string;
  /**
   * Puts it back.
   *
   * @param columns as many as there are now; at another width the lines would wrap, and stay away
   * @param midLine what was written did not end its line: the footer waits for the end
   */
  drop(columns: number, midLine: boolean): string;
  /** The terminal is lent until `unlock()`. Calls nest. */
  lock(): string;
  unlock(columns: number): string;
}

const ERASE_LINE = "\u001b[K";
const ERASE_BELOW = "\u001b[J";

/**
 * The cursor rests at the footer's first character: from there everything below can be erased, however the terminal has
 * wrapped the lines meanwhile, and what is written past this footer is not lost.
 */
export function createFooter(): Footer {
  let lines: readonly string[] = [];
  let width = 0;
  let isShown = false;
  let locks = 0;
  let waits = false;

  function draw(): string {
    if (locks > 0 || waits || lines.length === 0) return "";
    isShown = true;
    const up = lines.length === 1 ? "" : `\u001b[${lines.length - 1}A`;
    return `\r${lines.join(`${ERASE_LINE}\r\n`)}${ERASE_BELOW}${up}\r`;
  }

  function lift(): string {
    if (!isShown) return "";
    isShown = false;
    return `\r${ERASE_BELOW}`;
  }

  return {
    show(next, columns) {
      const same = isShown && columns === width && next.length === lines.length &&
        next.every((line, index) => line === lines[index]);
      if (same) return "";
      const resized = columns !== width;
      lines = next;
      width = columns;
      return next.length === 0 || resized ? lift() + draw() : draw();
    },
    lift,
    drop(columns, midLine) {
      waits = midLine;
      return columns === width ? draw() : "";
    },
    lock() {
      locks += 1;
      return lift();
    },
    unlock(columns) {
      locks -= 1;
      return columns === width ? draw() : "";
    },
  };
}
