import type { Backlog, Item, Next } from "../backlog/types.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { oneLine, type Style } from "../ui/printable.ts";
import type { Invocation } from "./command.ts";
import { toJson } from "./show.ts";

/** A workflow says this of its next iteration. */
export interface NextView {
  readonly blocked: boolean;
  /** For `--json`. */
  readonly data: object;
  /** The item, for standard output. */
  readonly item?: readonly string[];
  /** The notes for standard error if no item comes. */
  readonly notes?: readonly string[];
}

/** Prints it. @returns the exit code */
export function showNext({ flags, out, say }: Pick<Invocation, "flags" | "out" | "say">, view: NextView): number {
  if (flags.has("json")) out(toJson(view.data));
  else {
    for (const line of view.item ?? []) out(line);
    for (const line of view.notes ?? []) say(line);
  }
  return view.blocked ? EXIT.blocked : EXIT.done;
}

/** Shows the next item of a backlog with the checks that it would have, or why there is none. */
export async function nextOfBacklog<Data, Findings>(
  { root, style: { bold, dim, warn, symbols } }: { readonly root: string; readonly style: Style },
  backlog: Pick<Backlog<Data, Findings>, "work">,
  next: Next<Data>,
  { done, retry, dataOf = ({ criteria = [] }) => ({ criteria }) }: {
    /** The words for a backlog with nothing left, which says nothing itself. */
    readonly done: string;
    readonly retry: string | null;
    /** The item's own part of the JSON. @default its criteria */
    readonly dataOf?: (item: Item<Data>) => object;
  },
): Promise<NextView> {
  if (next.status === "done") {
    return { blocked: false, data: next, notes: [`nothing is left to do: ${next.summary ?? done}`] };
  }
  if (next.status === "waiting") {
    return { blocked: false, data: next, notes: ["everything that is left depends on what is in flight"] };
  }
  if (next.status === "blocked") {
    const reasons = next.reasons.map((reason) => `  ${reason.split("\n")[0] ?? ""}`);
    const hints = retry === null ? [] : [`hint: \`${retry}\` takes parked items up again`];
    return { blocked: true, data: next, notes: ["blocked:", ...reasons, ...hints] };
  }
  const { id, kind, title, criteria = [] } = next.item;
  const work = await backlog.work(next.item, {
    cwd: root,
    attempt: 1,
    previous: null,
    last: null,
    nonce: "",
    claims: [],
  });
  const checks = work.checks.map(({ name }) => name);
  return {
    blocked: false,
    data: { status: "item", id, kind, title, ...dataOf(next.item), checks },
    item: [
      `${bold(oneLine(id))}  ${oneLine(title)}`,
      ...criteria.map((criterion) => `  ${dim(symbols.dot)} ${criterion}`),
      checks.length === 0
        ? `  ${warn(symbols.warning)} no check: it cannot pass`
        : `checks: ${checks.map((check) => `\`${check}\``).join(", ")}`,
    ],
  };
}
