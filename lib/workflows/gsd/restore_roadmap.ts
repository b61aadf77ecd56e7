import { changeLines } from "./change_lines.ts";
import { canonical, sameNumber } from "./numbers.ts";
import { saidOf } from "./phase_standing.ts";
import { isTicked, parseRoadmap, type Roadmap } from "./roadmap_file.ts";

/**
 * ROADMAP.md as it was found, with what Ralph keeps in it as Ralph wrote it last: the boxes of plans and phases, the
 * counts and the rows of the table. Everything else that a person or an agent has written meanwhile stays; boxes that
 * are new are not ticked. If a phase or a plan is gone, another phase is called done or shipped, or one is to have
 * fewer plans, all of Ralph's version comes back. Pure.
 */
export function withTicksOf(found: string, written: string): string {
  const [theirs, ours] = [parseRoadmap(found), parseRoadmap(written)];
  if (lacks(theirs, ours)) return written;
  const lines = found.split(/\r?\n/);
  const own = written.split(/\r?\n/);
  const changes = new Map<number, string>();
  const change = (line: number, to: (text: string) => string): void =>
    void changes.set(line, to(changes.get(line) ?? lines[line - 1] ?? ""));
  const mark = (line: number, kept: string | undefined, now: string): void => {
    const next = kept ?? (isTicked(now) || now === "-" ? " " : now);
    if (next !== now) change(line, (text) => text.replace(/\[.\]/, `[${next}]`));
  };
  for (const plan of theirs.plans) mark(plan.line, matching(plan, theirs.plans, ours.plans)?.mark, plan.mark);
  for (const box of theirs.boxes) {
    mark(box.line, ours.boxes.find(({ phase }) => sameNumber(phase, box.phase))?.mark, box.mark);
  }
  for (const kind of ["counts", "rows"] as const) {
    for (const entry of theirs[kind]) {
      const kept = ours[kind].find(({ phase }) => sameNumber(phase, entry.phase));
      if (kept !== undefined) change(entry.line, () => own[kept.line - 1] ?? "");
    }
  }
  return changeLines(found, changes);
}

type PlanBox = Roadmap["plans"][number];

/** The same box in the other file: a plan may be listed several times. */
function matching(box: PlanBox, among: readonly PlanBox[], others: readonly PlanBox[]): PlanBox | undefined {
  const isSame = (one: PlanBox): boolean => sameNumber(one.phase, box.phase) && sameNumber(one.number, box.number);
  const same = others.filter(isSame);
  return same[among.filter(isSame).indexOf(box)] ?? same[0];
}

/** True where something is gone that was there, or a phase is closed or made shorter that was not. */
function lacks(found: Roadmap, written: Roadmap): boolean {
  return written.phases.some(({ number }) => !found.phases.some((phase) => sameNumber(phase.number, number))) ||
    written.plans.some((plan) => matching(plan, written.plans, found.plans) === undefined) ||
    closing(found).some((one) => !closing(written).includes(one)) ||
    written.phases.some(({ number }) =>
      (saidOf(found, number).inRoadmap ?? 0) < (saidOf(written, number).inRoadmap ?? 0)
    );
}

/** All that closes phases, beside the boxes. */
function closing({ called, milestones: { counted, shipped }, phases }: Roadmap): readonly string[] {
  return [
    ...called.filter(({ done }) => done).map(({ phase }) => `done ${canonical(phase)}`),
    ...phases.filter((phase) => phase.shipped).map(({ number }) => `shipped ${canonical(number)}`),
    ...shipped.map(([from, to]) => `shipped ${from}-${to}`),
    `archived ${counted}`,
  ];
}
