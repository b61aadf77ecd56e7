/** The signals by which a person or a supervisor ends Ralph. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `handler` for each of them instead of ending the process, until disposed. */
export function onSignals(handler: (signal: string) => void): Disposable {
  const listeners = SIGNALS.map((name) => {
    const listener = (): void => handler(name);
    process.on(name, listener);
    return [name, listener] as const;
  });
  return {
    [Symbol.dispose]() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}
