/**
 * Tools of operations. What shows credentials asks: `docker inspect` and `kubectl get -o yaml` show
 * environments, `systemctl show` too.
 */

import type { CommandRule, CommandTable } from '../rules.ts';

const NUMBER = /^\d+$/u;
/** `@file` reads and `%output{file}` writes one. */
const WRITE_OUT = /^(?!.*output)[^@]/su;
const NAME = /^[\w./:@,-]+$/u;

const kubectlFlags = {
  values: { n: NAME, l: 'text', o: /^=?(?:wide|name)$/u, c: NAME },
  longValues: {
    namespace: NAME,
    selector: 'text',
    output: /^(?:wide|name)$/u,
    context: NAME,
    container: NAME,
    'field-selector': 'text',
    'sort-by': 'text',
    since: /^\w+$/u,
    tail: /^-?\d+$/u,
    'request-timeout': /^\w+$/u,
  },
} as const;

const kubectlGet: CommandRule = {
  ...kubectlFlags,
  flags: 'A',
  longFlags: 'all-namespaces no-headers show-labels show-kind ignore-not-found chunk-size',
  operands: NAME,
};

const repository = { R: NAME, L: NUMBER } as const;
const repositoryLong = { repo: NAME, limit: NUMBER } as const;

/** Not --web (starts a browser), -t, --jq. */
const ghList: CommandRule = {
  values: { ...repository, s: /^\w+$/u, l: 'text', a: NAME, A: NAME, S: 'text', B: NAME },
  longFlags: 'draft',
  longValues: {
    ...repositoryLong,
    state: /^\w+$/u,
    label: 'text',
    assignee: NAME,
    author: NAME,
    search: 'text',
    base: NAME,
    branch: NAME,
    status: /^\w+$/u,
    json: /^[\w,]+$/u,
  },
  operands: 'none',
};

const ghView: CommandRule = {
  flags: 'cv',
  values: { R: NAME, j: NUMBER },
  longFlags: 'comments log log-failed name-only verbose patch required exit-status',
  longValues: { repo: NAME, json: /^[\w,]+$/u, job: NUMBER, color: /^\w+$/u },
  operands: NAME,
  mostOperands: 1,
};

const dockerList: CommandRule = {
  flags: 'aqsl',
  values: { n: NUMBER, f: 'text' },
  longFlags: 'all quiet size latest no-trunc digests',
  longValues: { filter: 'text', last: NUMBER, format: 'text' },
  operands: 'none',
};

const dockerLogs: CommandRule = {
  flags: 't',
  values: { n: /^\w+$/u },
  longFlags: 'timestamps',
  longValues: { tail: /^\w+$/u, since: 'text', until: 'text' },
  operands: NAME,
  mostOperands: 1,
};

const units: CommandRule = {
  flags: 'alq',
  values: { t: /^[\w,-]+$/u, n: NUMBER, o: /^[\w-]+$/u },
  longFlags: 'all full no-pager no-legend plain failed quiet user system reverse',
  longValues: { type: /^[\w,-]+$/u, state: /^[\w,-]+$/u, lines: NUMBER, output: /^[\w-]+$/u },
  operands: /^[\w@.:*\\-]+$/u,
};

export const operationCommands: CommandTable = {
  kubectl: {
    ...kubectlFlags,
    operands: 'text',
    homeFiles: ['.kube'],
    subcommands: {
      get: kubectlGet,
      describe: { ...kubectlGet, longFlags: 'all-namespaces show-events chunk-size' },
      // Not -f: it never ends.
      logs: {
        ...kubectlFlags,
        flags: 'p',
        longFlags: 'previous timestamps all-containers prefix',
        operands: NAME,
      },
      top: {
        ...kubectlFlags,
        flags: 'A',
        longFlags: 'all-namespaces containers no-headers',
        operands: NAME,
      },
      version: { longFlags: 'client short', operands: 'none' },
      explain: { longFlags: 'recursive', operands: NAME, mostOperands: 1 },
      'api-resources': { operands: 'none' },
      'api-versions': { operands: 'none' },
    },
  },
  docker: {
    operands: 'text',
    homeFiles: ['.docker'],
    subcommands: {
      ps: dockerList,
      images: { ...dockerList, operands: NAME, mostOperands: 1 },
      logs: dockerLogs,
      version: { operands: 'none' },
      port: { operands: NAME, mostOperands: 2 },
      stats: { flags: 'a', longFlags: 'all no-stream no-trunc', operands: NAME },
      container: {
        operands: 'text',
        subcommands: { ls: dockerList, ps: dockerList, logs: dockerLogs },
      },
      image: { operands: 'text', subcommands: { ls: dockerList } },
      network: { operands: 'text', subcommands: { ls: dockerList } },
      volume: { operands: 'text', subcommands: { ls: dockerList } },
    },
  },
  gh: {
    operands: 'text',
    homeFiles: ['.config/gh'],
    subcommands: {
      pr: {
        operands: 'text',
        subcommands: { list: ghList, view: ghView, diff: ghView, checks: ghView, status: ghView },
      },
      issue: { operands: 'text', subcommands: { list: ghList, view: ghView, status: ghView } },
      run: { operands: 'text', subcommands: { list: ghList, view: ghView } },
      workflow: { operands: 'text', subcommands: { list: ghList, view: ghView } },
      release: { operands: 'text', subcommands: { list: ghList, view: ghView } },
      repo: {
        operands: 'text',
        subcommands: { list: { ...ghList, operands: NAME }, view: ghView },
      },
    },
  },
  systemctl: {
    ...units,
    operands: 'text',
    standsAlone: true,
    subcommands: {
      status: units,
      'is-active': units,
      'is-enabled': units,
      'is-failed': units,
      'is-system-running': { operands: 'none' },
      'list-units': units,
      'list-unit-files': units,
      'list-timers': units,
      'list-sockets': units,
      'list-jobs': units,
      'list-dependencies': units,
      'get-default': { operands: 'none' },
    },
  },
  // Not -f, --vacuum-*, --rotate, --flush, --sync, --cursor-file, -D, --file, --root, -M.
  journalctl: {
    flags: 'abeklmqrx',
    values: {
      u: /^[\w@.:*\\-]+$/u,
      n: NUMBER,
      p: /^[\w.]+$/u,
      o: /^[\w-]+$/u,
      g: 'text',
      t: NAME,
      S: 'text',
      U: 'text',
    },
    longFlags:
      'all no-pager catalog dmesg quiet reverse utc user system no-hostname list-boots disk-usage boot pager-end full no-full',
    longValues: {
      unit: /^[\w@.:*\\-]+$/u,
      lines: NUMBER,
      priority: /^[\w.]+$/u,
      output: /^[\w-]+$/u,
      grep: 'text',
      identifier: NAME,
      since: 'text',
      until: 'text',
    },
    operands: /^_?[A-Z_]+=/u,
  },
  // Where it may go, and that it only gets, is judged where the address is read. Not -L: a redirect
  // may lead elsewhere. Not -O, -d, -F, -T, -K, -X, -b, -c, -u, -x.
  curl: {
    flags: 'fIisSv46',
    values: { A: /^[^@]/u, H: /^[^@]/u, m: NUMBER, o: /^\/dev\/null$/u, w: WRITE_OUT },
    longFlags: 'fail silent show-error include head verbose compressed ipv4 ipv6 http1.1 http2 get',
    longValues: {
      'user-agent': /^[^@]/u,
      header: /^[^@]/u,
      output: /^\/dev\/null$/u,
      'write-out': WRITE_OUT,
      'max-time': NUMBER,
      'connect-timeout': NUMBER,
      retry: /^\d$/u,
      url: 'text',
    },
    operands: 'text',
    homeFiles: ['.curlrc', '.config/curlrc'],
  },
};
