/**
 * `provider.route`: which agent takes a turn.
 *
 * @module
 */
import type { Config, ProviderChoice, RouteRule } from "../config/load.ts";
import type { Agent, RoutedAgent, RoutedAgents, TurnKind } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { sameName } from "../host/data.ts";
import type { Host } from "../host/types.ts";
import { resolveChoice } from "./registry.ts";

export interface RouterOptions {
  readonly config: Config;
  readonly host: Host;
  readonly root: string;
  /** The run's agent was named for this run (`--agent`): no rule holds then. */
  readonly isNamed: boolean;
  /** Applied to each agent, such as a recorder. */
  readonly wrap: (agent: Agent) => Promise<Agent>;
}

/** They act by a file: under the name of the agent that a rule chooses, so that rules can be tried without one. */
const STAND_INS: readonly string[] = ["scripted", "replay"];

/**
 * The run's agent and the router, `null` where the agent was named for this run. The agent is usable where all are.
 *
 * @throws {RalphError} agent-unknown, option-invalid, config-invalid
 */
export async function routed(own: Agent, { config, host, root, wrap, isNamed }: RouterOptions): Promise<RoutedAgents> {
  const wrapped = await wrap(own);
  const standIn = STAND_INS.includes(own.name) ? wrapped : null;
  if (isNamed && standIn === null) return { agent: wrapped, router: null };
  const rules = config.provider.route;
  const agents = await Promise.all(rules.map(async (rule, index): Promise<RoutedAgent> => {
    const choice = choiceOf(rule, config, index);
    const agent = standIn ?? await wrap(resolveChoice(choice, { host, root }));
    return { agent: { ...agent, name: nameOf(choice) }, why: `provider.route[${index}]: ${conditionsOf(rule)}` };
  }));
  const all = [wrapped, ...agents.map(({ agent }) => agent)];
  return {
    agent: {
      ...wrapped,
      async ensureUsable() {
        for (const agent of all) await agent.ensureUsable();
      },
    },
    router: { choose: (turn) => agents[rules.findIndex((rule) => fits(rule, turn))] ?? null },
  };
}

/** Tells whether all conditions of a rule hold. Pure. */
export function fits({ stage, kind, tag, priority, after }: RouteRule, turn: TurnKind): boolean {
  const { item } = turn;
  return (stage === undefined || stage === turn.stage) &&
    (kind === undefined || (item !== null && listOf(kind).some((one) => sameName(one, item.kind)))) &&
    (tag === undefined || listOf(tag).some((one) => item?.tags?.some((other) => sameName(one, other)) === true)) &&
    (priority === undefined || (item?.priority !== undefined && listOf(priority).includes(item.priority))) &&
    (after === undefined || turn.attempt > after);
}

/** The configured agent's settings fill in whatever a rule does not say, if it is the same agent. */
function choiceOf(rule: RouteRule, { provider }: Config, index: number): ProviderChoice {
  if (rule.command !== undefined) return { command: rule.command };
  const preset = rule.preset ?? provider.preset;
  if (preset === undefined) {
    const problem = `provider.route[${index}] needs a preset: provider names none that a model could be given to`;
    throw new RalphError("config-invalid", { details: { path: "ralph.config.json", problem } });
  }
  const isSame = preset === provider.preset;
  return {
    preset,
    model: rule.model ?? (isSame ? provider.model : undefined),
    reasoning: rule.reasoning ?? (isSame ? provider.reasoning : undefined),
    endpoint: rule.endpoint ?? (isSame ? provider.endpoint : undefined),
  };
}

/** Two models of one program are two agents: for limits, and for the report. */
function nameOf({ command, preset = "", model }: ProviderChoice): string {
  if (command !== undefined) return command.trim().split(/\s+/)[0] ?? command;
  return model === undefined ? preset : `${preset} (${model})`;
}

function conditionsOf({ stage, kind, tag, priority, after }: RouteRule): string {
  return Object.entries({ stage, kind, tag, priority, after }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${[value].flat().join(" or ")}`]
  ).join(", ");
}

function listOf<Value>(value: Value | readonly Value[]): readonly Value[] {
  return [value].flat() as readonly Value[];
}
