import { plainText } from "./printable.ts";
import type { Activity, ViewState } from "./view_state.ts";

/** The state with its texts as they can be shown, each on one line; of the words the last line. Pure. */
export function printableView(state: ViewState): ViewState {
  const { step, iteration, activity, tool, words, pause } = state;
  return {
    ...state,
    step: step === null ? null : printableLine(step),
    iteration: iteration === null ? null : {
      ...iteration,
      item: { ...iteration.item, id: printableLine(iteration.item.id), title: printableLine(iteration.item.title) },
    },
    activity: activity === null ? null : printableActivity(activity),
    tool: printableLine(tool),
    words: lastLine(words),
    pause: pause === null ? null : { ...pause, message: printableLine(pause.message) },
  };
}

function printableActivity(activity: Activity): Activity {
  switch (activity.kind) {
    case "turn":
      return { ...activity, agent: printableLine(activity.agent) };
    case "check":
      return { ...activity, check: { ...activity.check, name: printableLine(activity.check.name) } };
    case "hook":
      return { ...activity, hook: printableLine(activity.hook) };
    case "wait": {
      const { agent, message } = activity.wait;
      return {
        ...activity,
        wait: { ...activity.wait, agent: printableLine(agent), message: printableLine(message) },
      };
    }
  }
}

/** The last line with something on it; of a bar of progress what it was drawn over with. */
function lastLine(text: string): string {
  return text.split(/[\r\n]+/).map(printableLine).findLast((line) => line !== "") ?? "";
}

/** More than any terminal is wide. */
const LONGEST = 2000;

function printableLine(text: string): string {
  return plainText(text.slice(0, LONGEST)).replaceAll(/\s+/g, " ").trim();
}
