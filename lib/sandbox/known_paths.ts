/**
 * Paths that a policy knows by name; `~` is the home folder.
 *
 * @module
 */
import { words } from "../host/data.ts";

/** Secrets: hidden at any depth of what is shown. */
export const SECRET_PATHS: readonly string[] = words(`
  ~/.ssh ~/.gnupg ~/.aws ~/.azure ~/.kube ~/.docker ~/.config/gh ~/.config/gcloud ~/.config/op
  ~/.netrc ~/.npmrc ~/.pypirc ~/.git-credentials ~/.config/git/credentials ~/.gem/credentials
  ~/.cargo/credentials ~/.cargo/credentials.toml ~/.bash_history ~/.zsh_history ~/.mozilla ~/.password-store
  /etc/shadow /etc/gshadow /etc/sudoers /etc/sudoers.d
`);

/** Homes, temporary folders, sockets of services: an empty folder of its own is there instead. */
export const HIDDEN_PATHS: readonly string[] = words(`
  ~ /home /root /Users /tmp /var/tmp /run /var/run /private/tmp /private/var/run /var/spool /mnt/wslg
`);

/** Programs need these of the home folder: toolchains, and git's settings. */
export const TOOL_PATHS: readonly string[] = words(`
  ~/.gitconfig ~/.config/git ~/.nvm ~/.fnm ~/.volta ~/.asdf ~/.bun/bin ~/.deno/bin ~/.cargo/bin ~/.cargo/env
  ~/.cargo/config.toml ~/.rustup ~/.pyenv ~/.rbenv ~/.rvm ~/.sdkman ~/.dotnet ~/.nix-profile ~/go/bin ~/.local/bin
  ~/.local/lib ~/.local/pipx ~/.local/share/mise ~/.local/share/fnm ~/.local/share/uv ~/.local/share/pnpm
`);

/** Package managers keep their files here: a folder of the project's own is there instead. */
export const CACHE_PATHS: readonly string[] = words(`
  .cache .npm .bun/install/cache .yarn .local/share/pnpm/store go/pkg .cargo/registry .cargo/git .gradle/caches
  .m2/repository .nuget/packages
`);

/** Ways to services of the machine and of the person. */
export const DROPPED_VARIABLES: readonly string[] = words(`
  SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS XDG_RUNTIME_DIR
  XDG_CACHE_HOME DOCKER_HOST DOCKER_CONFIG CONTAINER_HOST KUBECONFIG WAYLAND_DISPLAY DISPLAY XAUTHORITY
  GOOGLE_APPLICATION_CREDENTIALS AWS_PROFILE GIT_ASKPASS SSH_ASKPASS BASH_ENV ENV
`);

/** Ralph's own git, outside, runs or believes these parts of a git directory. */
export const GIT_NEVER: readonly string[] = ["hooks", "config", "config.worktree", "info", "ralph", "modules"];
