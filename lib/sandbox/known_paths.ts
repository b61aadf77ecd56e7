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
  ~/.config/google-chrome ~/.config/google-chrome-beta ~/.config/google-chrome-for-testing ~/.config/chromium
  ~/.config/BraveSoftware ~/.config/microsoft-edge ~/.config/vivaldi ~/.config/opera ~/.config/mozilla ~/.librewolf ~/.zen
  ~/snap ~/.var/app ~/.config/Signal ~/.thunderbird ~/.local/share/keyrings ~/.config/ralph ~/.config/sops ~/.config/age
  ~/.config/glab-cli ~/.config/doctl ~/.config/stripe ~/.config/containers/auth.json
  ~/.local/share/fish/fish_history ~/.python_history
  ~/.config/rclone ~/.terraform.d/credentials.tfrc.json ~/.vault-token ~/.pgpass
  /etc/shadow /etc/gshadow /etc/sudoers /etc/sudoers.d
`);

/** Builds fetch with these, and start containers and databases: `light` shows them. */
export const FETCH_PATHS: readonly string[] = words(`
  ~/.npmrc ~/.netrc ~/.pgpass ~/.docker ~/.config/containers/auth.json
`);

/** No secrets, beside some: an agent for keys needs them to reach a host. */
export const HOST_PATHS: readonly string[] = words("~/.ssh/config ~/.ssh/known_hosts");

/** An agent logs in with these secrets where a variable, its settings or its model has such a name. */
export const BORROWED_PATHS: readonly (readonly [name: RegExp, path: string])[] = [
  [/bedrock/i, "~/.aws"],
  [/vertex/i, "~/.config/gcloud"],
];

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

/** They name caches and temporary folders, wherever these are. */
export const CACHE_VARIABLES: readonly string[] = words(`
  TMPDIR XDG_RUNTIME_DIR XDG_CACHE_HOME CARGO_TARGET_DIR GOCACHE GOMODCACHE NPM_CONFIG_CACHE npm_config_cache
  YARN_CACHE_FOLDER PIP_CACHE_DIR UV_CACHE_DIR CCACHE_DIR SCCACHE_DIR HF_HOME PLAYWRIGHT_BROWSERS_PATH
`);

/** They name folders of tools that a project's commands write to. */
export const TOOL_VARIABLES: readonly string[] = words(`
  VIRTUAL_ENV CONDA_PREFIX CARGO_HOME RUSTUP_HOME GOPATH GRADLE_USER_HOME PNPM_HOME NVM_DIR PYENV_ROOT RBENV_ROOT GEM_HOME
  BUNDLE_PATH
`);

/** Ways to services of the machine and of the person. */
export const DROPPED_VARIABLES: readonly string[] = words(`
  SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS XDG_RUNTIME_DIR
  XDG_CACHE_HOME DOCKER_HOST DOCKER_CONFIG CONTAINER_HOST KUBECONFIG WAYLAND_DISPLAY DISPLAY XAUTHORITY
  GOOGLE_APPLICATION_CREDENTIALS AWS_PROFILE GIT_ASKPASS SSH_ASKPASS BASH_ENV ENV
`);

/** Ralph's own git, outside, runs or believes these parts of a git directory. */
export const GIT_NEVER: readonly string[] = ["hooks", "config", "config.worktree", "info", "ralph", "modules"];

/** The parts that `light` keeps off: hooks are a turn's own copies, and settings are put back after it. */
export const GIT_NEVER_LIGHT: readonly string[] = ["config.worktree", "ralph"];
