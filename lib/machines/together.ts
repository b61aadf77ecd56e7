/**
 * Calls that cost as much for many as for one: what is asked for while one of them is under way goes together in the next.
 *
 * @param act gives an answer for each, in the same order; what it throws is thrown to each
 */
export function together<Ask, Answer>(
  act: (asks: readonly Ask[]) => Promise<readonly Answer[]>,
): (ask: Ask) => Promise<Answer> {
  let waiting: Ask[] = [];
  let next: Promise<readonly Answer[]> | null = null;
  let underWay: Promise<unknown> = Promise.resolve();
  const begin = (): Promise<readonly Answer[]> => {
    const asks = waiting;
    waiting = [];
    next = null;
    const answers = act(asks);
    underWay = answers.catch(() => {});
    return answers;
  };
  return async (ask) => {
    const at = waiting.push(ask) - 1;
    next ??= underWay.then(begin);
    return (await next)[at] as Answer;
  };
}
