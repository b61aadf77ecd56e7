/** What the understanding loop looks at when nobody said otherwise, in this order. The map's template and the prompt list the same. */
export const DEFAULT_TOPICS: readonly string[] = [
  "How to run locally (setup, environment variables, start commands)",
  "Build, test, lint and CI gates (what runs where, and how)",
  "Repository layout and module boundaries",
  "Entrypoints (server, worker, cron, CLI)",
  "Configuration, environment variables, secrets, feature flags",
  "Authentication and authorization (where permissions are enforced)",
  "Data model and persistence (migrations, transactions)",
  "Core domain flow 1 (traced end to end)",
  "Core domain flow 2 (traced end to end)",
  "External integrations (third-party APIs, webhooks, queues)",
  "Observability (logging, metrics, tracing, error reporting)",
  "Deployment and release process",
];
