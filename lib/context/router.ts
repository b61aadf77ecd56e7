import type { Item } from "../backlog/item.ts";
import type { TurnStage } from "../config/types.ts";
import type { Agent } from "./agent.ts";

/** A turn, as far as the choice of its agent depends on it. */
export interface TurnKind {
  readonly stage: TurnStage;
  readonly item: Pick<Item, "kind" | "tags" | "priority"> | null;
  /** From 1. */
  readonly attempt: number;
}

/** An agent, and the rule that chose it, in words. */
export interface RoutedAgent {
  readonly agent: Agent;
  readonly why: string;
}

/** Chooses the agent of a turn by `provider.route`. */
export interface Router {
  /** `null`: no rule fits, so that the run's agent takes it. */
  choose(turn: TurnKind): RoutedAgent | null;
}

/** The agents of a run. */
export interface RoutedAgents {
  /** Takes the turns that no rule is for. */
  readonly agent: Agent;
  readonly router: Router | null;
}
