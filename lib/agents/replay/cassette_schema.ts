import { z } from "zod";
import { CASSETTE_VERSION, type RecordedTurn } from "./recorded_turn.ts";

/** What a line of a cassette must hold to be played. */
export const RECORDED_TURN: z.ZodType<RecordedTurn> = z.object({
  v: z.literal(CASSETTE_VERSION),
  promptHash: z.string(),
  prompt: z.string(),
  agent: z.string(),
  events: z.array(z.looseObject({ type: z.string() })),
  turn: z.looseObject({ end: z.looseObject({ reason: z.string() }), text: z.string(), lines: z.array(z.string()) }),
  patch: z.string(),
  commits: z.array(z.object({ message: z.string(), paths: z.array(z.string()) })),
}) as never;
