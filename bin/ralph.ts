#!/usr/bin/env node
import process from "node:process";
import { answerAtOnce } from "../lib/program/answer_at_once.ts";

const argv = process.argv.slice(2);
const answer = await answerAtOnce(argv, columns);
if (answer === null) {
  const { main } = await import("../lib/program/main.ts");
  const { createHost } = await import("../lib/host/create_host.ts");
  process.exitCode = await main(argv, createHost());
  setTimeout(() => process.exit(), 500).unref(); // whatever still holds the process: the command has ended
} else {
  console.log(answer);
}

/** The columns of the terminal, if it is one: nothing else is worth making a stream for. */
async function columns(): Promise<number | undefined> {
  const { createTerminal } = await import("../lib/host/terminal.ts");
  return createTerminal().isTerminal("stdout") ? process.stdout.columns : undefined;
}
