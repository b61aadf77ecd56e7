/** Programs whose work is done by a service or a machine that sees other files than the command. */
const DAEMONS_REGEXP =
  /(^|[\s;&|(){}`"'/=])(docker|docker-compose|podman|podman-compose|nerdctl|kubectl|helm|ssh|scp|rsync)(?=$|[\s;&|)`"'])/;

/** True for a command that names docker, podman, kubectl or ssh: it may look at the tree instead of the checkout. Pure. */
export function reachesDaemon(command: string): boolean {
  return DAEMONS_REGEXP.test(command);
}
