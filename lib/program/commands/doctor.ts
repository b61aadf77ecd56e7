import { EXIT } from "../../errors/exit_codes.ts";
import type { Invocation } from "../../cli/command.ts";
import type { Finding } from "../../cli/finding.ts";
import { examine } from "../doctor_checks.ts";
import { styleFor, toJson } from "../../cli/show.ts";

/** `ralph doctor`: what is there, what is missing, and how to get it. Exit code 1 when something is missing. */
export async function run(invocation: Invocation): Promise<number> {
  const findings = await examine(invocation);
  const missing = findings.filter(({ level }) => level === "missing").length;
  if (invocation.flags.has("json")) invocation.out(toJson({ ok: missing === 0, findings }));
  else for (const line of lines(findings, missing, invocation)) invocation.out(line);
  return missing === 0 ? EXIT.done : EXIT.failed;
}

function lines(findings: readonly Finding[], missing: number, invocation: Invocation): readonly string[] {
  const { good, bad, warn, dim, symbols } = styleFor(invocation, "stdout");
  const notes = findings.filter(({ level }) => level === "note").length;
  const marks = { ok: good(symbols.passed), note: warn(symbols.warning), missing: bad(symbols.failed) };
  const width = Math.max(...findings.map(({ name }) => name.length));
  return [
    ...findings.flatMap(({ level, name, detail, hint }) => [
      `${marks[level]} ${name.padEnd(width)}  ${detail}`,
      ...(hint === undefined ? [] : [`  ${" ".repeat(width)}  ${dim(`hint: ${hint}`)}`]),
    ]),
    missing === 0
      ? good(notes === 0 ? "nothing is missing" : "nothing is missing that a run needs to start")
      : bad(`${missing} ${missing === 1 ? "thing is" : "things are"} missing`),
  ];
}
