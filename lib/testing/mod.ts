/**
 * `ralph/testing`: what tests of recipes, steps and backlogs need. Real repositories, real processes; only the model
 * is left out.
 *
 * @module
 */
export type { Script, ScriptedTurn } from "../agents/scripted/types.ts";
export { scriptedAgent, type ScriptedAgentOptions } from "../agents/scripted/scripted_agent.ts";
export * from "./backlog_contract.ts";
export { type FakeClock, fakeClock } from "./fake_clock.ts";
export {
  type TemporaryRepository,
  temporaryRepository,
  type TemporaryRepositoryOptions,
} from "./temporary_repository.ts";
export * from "./tracker_contract.ts";
export { type TestContext, testContext, type TestContextOptions } from "./test_context.ts";
