/**
 * `ralph/agents`: agents made from a command or from a script, and what an agent is.
 *
 * @module
 */
export { commandAgent, type CommandAgentOptions } from "../agents/command_agent.ts";
export type { Script, ScriptedTurn } from "../agents/scripted/types.ts";
export { scriptedAgent, type ScriptedAgentOptions } from "../agents/scripted/scripted_agent.ts";
export type { AgentTurn, Turn, TurnActivity, TurnEnd, TurnRecord, Usage } from "../backlog/turn_types.ts";
export type { Agent, TurnRequest } from "../context/context.ts";
