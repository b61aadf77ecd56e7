/** As much of a terminal as a footer needs: endless paper, a cursor, and the sequences that Ralph writes. */
export interface Screen {
  write(text: string): void;
  /** Lines without trailing blanks, and none below the last that holds something. */
  lines(): readonly string[];
  readonly column: number;
}

const TOKEN_REGEXP = /\u001b\[(\d*)([A-Z])|\r|\n|[^\u001b\r\n]/gu;

export function createScreen(): Screen {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;

  function sequence(count: number, kind: string): void {
    if (kind === "A") row = Math.max(0, row - count);
    else if (kind === "K" || kind === "J") rows[row]!.length = Math.min(column, rows[row]!.length);
    else throw new Error(`the screen knows no CSI ${kind}`);
    if (kind === "J") rows.length = row + 1;
  }

  return {
    get column() {
      return column;
    },
    write(text) {
      for (const [token, count = "", kind] of text.matchAll(TOKEN_REGEXP)) {
        if (kind !== undefined) sequence(Number(count || 1), kind);
        else if (token === "\r") column = 0;
        else if (token === "\n") [row, column] = [row + 1, 0];
        else rows[row]![column++] = token;
        rows[row] ??= [];
      }
    },
    lines() {
      const lines = rows.map((cells) => Array.from(cells, (cell) => cell ?? " ").join("").trimEnd());
      return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
    },
  };
}
