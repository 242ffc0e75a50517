/** For which commands an approval may cover later ones with other arguments. */

/** What the first words choose, by command; the number of words that choose. */
export const wordsThatChoose: Readonly<Record<string, number>> = {
  apt: 1,
  'apt-get': 1,
  aws: 2,
  az: 2,
  brew: 1,
  bun: 1,
  bundle: 1,
  cargo: 1,
  composer: 1,
  docker: 1,
  'docker builder': 1,
  'docker compose': 1,
  'docker container': 1,
  'docker image': 1,
  'docker network': 1,
  'docker volume': 1,
  dotnet: 1,
  gcloud: 3,
  gh: 2,
  git: 1,
  'git remote': 1,
  'git stash': 1,
  'git worktree': 1,
  go: 1,
  helm: 1,
  kubectl: 1,
  'kubectl config': 1,
  'kubectl rollout': 1,
  npm: 1,
  'npm run': 1,
  pip: 1,
  pip3: 1,
  pnpm: 1,
  'pnpm run': 1,
  poetry: 1,
  systemctl: 1,
  terraform: 1,
  uv: 1,
  yarn: 1,
  'yarn run': 1,
};

/**
 * Interpreters, wrappers, and what else runs whatever its arguments say: an approval of one such line
 * would be an approval of everything.
 */
export const neverGranted: ReadonlySet<string> = new Set(
  `. ansible ansible-playbook ash at awk bash batch bundle builtin bun bunx busybox bwrap case chroot chrt
  command coproc crontab csh cscript curl cpulimit dash dc deno doas docker-compose dotnet ed emacs
  enable entr env eval ex exec expect export find firejail fish flock gawk gdb ghci gosu
  hash help http https ionice irb iex java jshell julia just ksh less let ltrace lua luajit make
  man mawk mksh more mysql nawk nc ncat netcat nice nix nix-shell node nodejs nohup npx ocaml
  octave osascript parallel perl php pipx pkexec pnpx podman powershell psql pwsh pypy pypy3 python
  python2 python3 r rake rbash rlwrap rscript rsync ruby run-parts runcon runuser sash scala
  scp screen script sed set setarch setpriv setsid sftp sg sh shopt socat source sort sqlite3 ssh
  start-stop-daemon stdbuf strace su sudo swift systemd-run tar task taskset tclsh tcsh tee telnet time
  timeout tmux trap ts-node tsx typeset unshare uvx valgrind vi view vim nvim nano vite-node
  watch watchexec wget wish xargs xonsh yash zip zsh declare readonly local alias unalias dd
  rg apt apt-get`
    .split(/\s+/u)
    .filter((name) => name !== ''),
);

/** Subcommands of others that run whatever they are given, or change what others run. */
export const neverGrantedBelow: readonly RegExp[] = [
  /^git (?:bisect|config|difftool|filter-branch|mergetool|rebase|submodule|worktree|clone|fetch|pull|grep|archive|hook|maintenance|for-each-repo|remote|init|replace|update-ref)\b/u,
  /^docker (?:run|exec|build|buildx|compose|container|cp|create|plugin|context|image|builder)\b/u,
  /^kubectl (?:exec|run|debug|attach|cp|proxy|port-forward|config|apply|edit|plugin)\b/u,
  /^(?:npm|pnpm|yarn|bun) (?:exec|x|dlx|config|explore|create|init|link|set|edit)\b/u,
  /^(?:uv|poetry|pipx) (?:run|tool|shell)\b/u,
  /^go (?:run|generate|tool|test|build|vet|env|install|get|list)\b/u,
  /^cargo (?:run|install|rustc|config)\b/u,
  /^gh (?:api|alias|extension|ext|codespace|cs|auth|config|secret|ssh-key|gpg-key)\b/u,
  /^(?:helm|terraform) (?:plugin|console|template|init|apply|install|upgrade)\b/u,
  /^systemctl (?:edit|set-environment|link|import-environment|enable)\b/u,
  /^pip3? (?:install|config|download|wheel)\b/u,
];
