import { compileSprint } from "../../../lib/workflows/sprint/compile.ts";
import { readSprint, sprintBacklog } from "../../../lib/workflows/sprint/backlog.ts";
import type { SprintProgress } from "../../../lib/workflows/sprint/types.ts";
import { changeYaml } from "../../../lib/workflows/sprint/document.ts";
import { addSteps, completeStep } from "../../../lib/workflows/sprint/steps.ts";
import type { RalphContext } from "../../../lib/context/context.ts";
import type { RalphOptions } from "../../../lib/recipe/create_ralph.ts";
import { loopWorld, type Turns, type World } from "../../loop/loop_world.ts";

/** The sprint's folder in tests. */
export const DIRECTORY = "sprint";
export const PROGRESS = `${DIRECTORY}/PROGRESS.yaml`;

/** A repository with a compiled sprint. */
export interface SprintWorld extends World {
  progress(): Promise<SprintProgress>;
  backlog(ralph?: RalphContext): ReturnType<typeof sprintBacklog>;
  /** `ralph step` does this. */
  add(...prompts: string[]): Promise<void>;
  done(id: string): Promise<void>;
}

/** Compiles a sprint with this goal; `more` are further lines of SPRINT.yaml. */
export async function sprintWorld(
  turns: Turns,
  more = "",
  options: RalphOptions & { readonly files?: Record<string, string> } = {},
): Promise<SprintWorld> {
  const files = { [`${DIRECTORY}/SPRINT.yaml`]: `workflow: ralph\ngoal: reach the goal\n${more}`, ...options.files };
  const world = await loopWorld(turns, { ...options, files });
  await compileSprint(world.ralph, { directory: DIRECTORY });
  const now = "2026-01-01T00:00:00Z";
  return {
    ...world,
    progress: () => readSprint(world.ralph, PROGRESS),
    backlog: (ralph = world.ralph) => sprintBacklog(ralph, { directory: DIRECTORY }),
    async add(...prompts) {
      const { currentIteration: iteration } = await readSprint(world.ralph, PROGRESS);
      await world.ralph.state.update(
        PROGRESS,
        (text) => changeYaml(text!, PROGRESS, (document) => addSteps(document, prompts, { iteration, now }).length > 0),
      );
    },
    async done(id) {
      await world.ralph.state.update(
        PROGRESS,
        (text) => changeYaml(text!, PROGRESS, (document) => completeStep(document, { id }, now) === "completed"),
      );
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** The modes that the events tell, in order. */
export function modesOf(world: World): readonly string[] {
  return world.events.flatMap((event) => event.type === "iteration-start" ? [event.item.kind] : []);
}
