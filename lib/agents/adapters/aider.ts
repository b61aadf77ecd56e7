import { words } from "../../host/data.ts";
import { callsOf, type Driver, PROMPT_FILE } from "../adapter.ts";

/** `aider --message-file`: plain text back. Ralph commits, so aider does not. */
export const DRIVER: Driver = {
  ...callsOf({
    first: words(`
      --message-file ${PROMPT_FILE} --yes-always --no-stream --no-pretty --no-check-update --no-auto-commits
    `),
    model: "--model",
    reasoning: "--reasoning-effort",
  }),
  translator: null,
};
