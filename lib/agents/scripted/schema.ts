import { z } from "zod";
import type { Script } from "./types.ts";

const texts = z.union([z.string(), z.array(z.string())]);
const files = z.record(z.string().min(1), z.string());
const duration = z.union([
  z.number().nonnegative(),
  z.string().regex(/^\d+(\.\d+)?(ms|s|m)$/, "expected seconds, or a text such as `500ms`, `2s`, `1m`"),
]);

/** What a file of turns may hold. */
export const SCRIPT_SCHEMA: z.ZodType<Script> = z.strictObject({
  turns: z.array(z.strictObject({
    match: z.union([z.string(), z.array(z.string())]).optional(),
    times: z.union([z.number().int().positive(), z.literal("any")]).optional(),
    delay: duration.optional(),
    write: files.optional(),
    append: files.optional(),
    delete: z.array(z.string().min(1)).optional(),
    run: texts.optional(),
    stderr: z.string().optional(),
    say: texts.optional(),
    hang: z.boolean().optional(),
    exit: z.number().int().min(0).max(255).optional(),
  })).min(1, "expected at least one turn"),
}) as z.ZodType<Script>;
