import { describe, test } from "vitest";
import { type BacklogContract, backlogContract } from "../../lib/testing/backlog_contract.ts";

/** One test for each case of the contract. */
export function keepsContract<Data, Findings>(name: string, open: BacklogContract<Data, Findings>["open"]): void {
  describe(`${name} keeps the backlog contract`, () => {
    const cases = backlogContract({ open }).map((one) => [one.name, one] as const);
    test.each(cases)("%s", (_name, one) => one.run());
  });
}
