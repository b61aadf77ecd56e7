/** How a PLAN.md names a check, for messages. */
export const CHECK_FORM: string =
  "in the plan, in a task's `<verify>` or in `<verification>`, on a line of its own: `<automated>npm test</automated>`";
