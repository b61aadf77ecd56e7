/**
 * The schemas of the files by which a person changes a run from outside. The types are made from them.
 *
 * @module
 */
import { z } from "zod";
import { record } from "../config/parts.ts";
import type { LiveRun, SteerReply, SteerRequest } from "../generated/steer.ts";
import { LARGEST } from "./largest.ts";

const text = z.string();
const since = text.describe("ISO time");
const pid = z.number().int().positive();

/** A run's file. */
export const LIVE_RUN: z.ZodType<LiveRun> = record("LiveRun", "A run that is at work says this of itself.", {
  v: z.literal(1),
  run: text.describe("the run's id"),
  root: text,
  folder: text.describe("absolute path of the folder of its events"),
  pid,
  started: text.describe("start of that process; with the pid it names one process for good"),
  since,
  asks: record("OpenQuestion", "A question that waits for its answer.", {
    key: text,
    id: text,
    kind: z.enum(["confirm", "text", "select"]),
    message: text,
    details: z.array(text),
    choices: z.array(z.object({ value: text, label: text, hint: text.exactOptional() })),
    initial: text.nullable(),
    since,
  }).nullable(),
  pause: z.object({
    state: z.enum(["asked", "paused"]).describe("asked: it pauses after the present turn"),
    key: text,
    since,
  }).nullable(),
  stopping: z.boolean().describe("it ends after the present turn"),
  told: z.array(text).exactOptional().describe(
    "the texts that it was told, a line each, cut: if it is killed, the next run names them",
  ),
});

const request = record("SteerRequest", "One thing that a person asks of a run.", {
  action: z.enum(["pause", "resume", "stop", "stop-now", "tell", "answer"]),
  origin: z.enum(["file", "page"]),
  text: text.max(LARGEST).exactOptional().describe("the text that is told, or the answer"),
  item: text.max(200).exactOptional().describe("told for the prompts of this item alone"),
  key: text.max(100).exactOptional().describe(
    "the key of the answered question, or of the pause that ends: only who looked after it was made knows it",
  ),
  runs: text.exactOptional().describe("told to an ended run: the folder of its own, for the next run there"),
});

/** A request. */
export const REQUEST: z.ZodType<SteerRequest> = request;

/** The file of a request, with the process that holds it open. */
export const REQUEST_FILE: z.ZodType<SteerRequest & { readonly pid: number }> = request.extend({ pid });

/** The file of a reply. */
export const REPLY: z.ZodType<SteerReply> = record("SteerReply", "The run's reply to a request.", {
  status: z.enum(["taken", "refused"]),
  message: text.describe("in words, for who asked"),
  hint: text.exactOptional().describe("what to do; there where the request itself was wrong"),
});
