/** The workflow `ralph`, where the project has none of that name: the three hooks of old, all off. */
export const RALPH_WORKFLOW = `name: Ralph Mode Workflow
description: Autonomous goal-driven execution with configurable per-iteration hooks

mode: ralph

per-iteration-hooks:
  - id: learning
    workflow: "m42-signs:learning-extraction"
    parallel: true
    enabled: false

  - id: documentation
    prompt: |
      Review changes from this iteration and update relevant documentation.
      Focus on API changes, new features, and breaking changes.
      The iteration's transcript is $ITERATION_TRANSCRIPT.
    parallel: true
    enabled: false

  - id: tests
    prompt: |
      Analyze code changes and suggest additional test cases.
      The iteration's transcript is $ITERATION_TRANSCRIPT.
    parallel: true
    enabled: false
`;
