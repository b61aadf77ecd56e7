import { z } from "zod";
import type { ClaimLine } from "./claims.ts";

/** A line of a file of claims. */
export const CLAIM_SCHEMA: z.ZodType<ClaimLine> = z.strictObject({
  v: z.literal(1),
  command: z.string().max(50),
  at: z.number(),
  id: z.string().max(200).optional(),
  text: z.string().optional(),
  record: z.record(z.string(), z.unknown()).optional(),
});
