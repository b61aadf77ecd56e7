import type { Verification } from "../backlog/types.ts";
import { createSlots } from "../host/slots.ts";
import { type CheckLike, namedCheck } from "./function.ts";
import { repeatFailed, verify } from "./verify.ts";

/** Checks of several workers, which may want the same port, database or file. */
export interface Beside {
  /** Runs checks whose result accuses no one, such as those before the work. */
  run<Value>(work: () => Promise<Value>): Promise<Value>;
  /**
   * As `verify()`. A command that is red while other checks run is run once more, alone, before it counts.
   *
   * @param always it is run once more also where it was alone
   */
  verify(
    ralph: Parameters<typeof repeatFailed>[0],
    checks: readonly CheckLike[],
    options: Parameters<typeof repeatFailed>[3],
    always?: boolean,
  ): Promise<Verification>;
}

interface Running {
  readonly ended: Promise<void>;
  wasBeside: boolean;
}

/** @param onUnsteady gets each command that was red, and green when it was run alone */
export function createBeside(onUnsteady: (command: string) => void): Beside {
  const entry = createSlots(1);
  const running = new Set<Running>();

  async function beside<Value>(work: () => Promise<Value>): Promise<{ readonly value: Value; readonly self: Running }> {
    let end = (): void => {};
    const self: Running = { ended: new Promise<void>((resolve) => (end = resolve)), wasBeside: false };
    await entry.run(async () => {
      running.add(self);
      if (running.size > 1) { for (const one of running) one.wasBeside = true; }
    });
    try {
      return { value: await work(), self };
    } finally {
      running.delete(self);
      end();
    }
  }

  /** Nothing starts before it has ended. */
  async function alone<Value>(work: () => Promise<Value>): Promise<Value> {
    return await entry.run(async () => {
      await Promise.all([...running].map(({ ended }) => ended));
      return await work();
    });
  }

  return {
    run: async (work) => (await beside(work)).value,
    async verify(ralph, checks, options, always = false) {
      const isReview = (check: CheckLike): boolean => namedCheck(check)?.review === true;
      const reviews = checks.filter(isReview);
      const commands = checks.filter((check) => !isReview(check));
      const { value: found, self } = await beside(() => verify(ralph, commands, options));
      const { verification, unsteady } = found.status === "failed" && (always || self.wasBeside)
        ? await alone(() => repeatFailed(ralph, commands, found, options))
        : { verification: found, unsteady: [] };
      for (const command of unsteady) onUnsteady(command);
      if (reviews.length === 0 || verification.status === "failed" || verification.status === "aborted") {
        return verification;
      }
      const reviewed = await verify(ralph, reviews, options); // turns, which stand in no check's way
      const results = [...verification.results, ...reviewed.results];
      return reviewed.status === "unverified" ? verification : { ...reviewed, results };
    },
  };
}
