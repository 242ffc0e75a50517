/**
 * Shapes of known tokens, from the rules that secretlint maintains, and those of the services that
 * the bot itself uses. The rules work on plain text and answer at once; what they would do
 * asynchronously (key files) is not their use here.
 */

import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { SecretLintRuleContext, SecretLintSourceCode } from '@secretlint/types';

export interface FoundSecret {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** Token shapes with enough fixed structure not to hit prose. */
const shapes: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  { kind: 'slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/gu },
  { kind: 'slack app token', pattern: /\bxapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]{10,}/gu },
  { kind: 'anthropic key', pattern: /\bsk-ant-[A-Za-z0-9_-]{16,}/gu },
  { kind: 'openai key', pattern: /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}/gu },
  { kind: 'google key', pattern: /\bAIza[A-Za-z0-9_-]{35}/gu },
  {
    kind: 'github token',
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})/gu,
  },
  {
    kind: 'discord token',
    pattern: /\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/gu,
  },
  { kind: 'aws key', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/gu },
  {
    kind: 'private key',
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  },
  {
    kind: 'password in address',
    pattern: /(?<=\b[a-z][a-z0-9+]{2,20}:\/\/[^\s:/@]{0,64}:)[^\s:/@]{3,128}(?=@)/gu,
  },
  { kind: 'credential', pattern: /(?<=\bBearer )[A-Za-z0-9._~+/-]{20,}=*/gu },
  { kind: 'credential', pattern: /(?<=\bAuthorization: ?Basic )[A-Za-z0-9+/]{8,}=*/giu },
];

/** Beginnings of shapes at the end of a text that still grows. */
const beginnings =
  /(?:\bxox[abeoprs]-[A-Za-z0-9-]*|\bxapp-[A-Za-z0-9-]*|\bsk-[A-Za-z0-9_-]*|\bAIza[A-Za-z0-9_-]*|\bgh[pousr]_[A-Za-z0-9]*|\bgithub_pat_[A-Za-z0-9_]*|\bglpat-[A-Za-z0-9_-]*|\bnpm_[A-Za-z0-9]*|\bSG\.[A-Za-z0-9_.-]*|\bshp[a-z]{2}_[A-Za-z0-9]*|\blin_[a-z]+_[A-Za-z0-9]*|\bops_[A-Za-z0-9_-]*|\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_.-]*|\b(?:AKIA|ASIA)[A-Z0-9]*|\bBearer [A-Za-z0-9._~+/-]*=*|\bAuthorization: ?Basic [A-Za-z0-9+/]*=*|\b[a-z][a-z0-9+]{2,20}:\/\/[^\s/@]{0,200}|-----B[A-Z ]*-{0,5})$/u;
/** The unfinished body of a key that has begun. */
const openKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----(?![\s\S]*-----END)[\s\S]*$/u;
/** A longer run is no token: it is shown. */
const mostHeldChars = 300;

/** How many characters at the end could be the beginning of a token. */
export function beginningOfShape(text: string): number {
  const key = openKey.exec(text.slice(-8000));
  if (key) return key[0].length;
  const tail = text.slice(-mostHeldChars);
  const found = beginnings.exec(tail);
  return found && (found.index > 0 || tail.length < mostHeldChars) ? found[0].length : 0;
}

/** What looks like a secret, in order of its place; no two overlap. */
export function findShapes(text: string): readonly FoundSecret[] {
  const own = ownShapes(text);
  const others = maintainedShapes(text).filter(
    ({ from, to }) => !own.some((one) => one.from < to && from < one.to),
  );
  const found = [...own, ...others].sort((a, b) => a.from - b.from || b.to - a.to);
  const apart: FoundSecret[] = [];
  for (const one of found) {
    const last = apart.at(-1);
    if (!last || one.from >= last.to) apart.push(one);
    else if (one.to > last.to) apart[apart.length - 1] = { ...last, to: one.to };
  }
  return apart;
}

function ownShapes(text: string): FoundSecret[] {
  return shapes.flatMap(({ kind, pattern }) =>
    [...text.matchAll(pattern)].map((match) => ({
      kind,
      from: match.index,
      to: match.index + match[0].length,
    })),
  );
}

type Check = (text: string) => void;

const sourceName = 'text.txt';

/** Each rule once, reporting into one list that is emptied before each text. */
const reports: FoundSecret[] = [];
const checks: readonly Check[] = rules.flatMap((rule) => {
  // Comments that switch rules off are for source code: here nobody may switch them off.
  if (rule.meta.id.endsWith('filter-comments')) return [];
  const kind = kindOf(rule.meta.id);
  const context: SecretLintRuleContext = {
    sharedOptions: {},
    createTranslator: () => (key, data) => ({ message: kind, messageId: String(key), data }),
    ignore: () => {},
    report: ({ range: [from, to] }) => {
      reports.push({ kind, from, to });
    },
  };
  const created = rule.create(context, {});
  return [(text: string) => void created.file?.(sourceOf(text))];
});

function sourceOf(text: string): SecretLintSourceCode {
  return {
    content: text,
    contentType: 'text',
    filePath: sourceName,
    physicalFilePath: sourceName,
    getFilePath: () => sourceName,
    getPhysicalFilePath: () => sourceName,
    ext: '.txt',
    hasBOM: false,
    indexToPosition: nowhere,
    positionToIndex: nowhere,
    locationToRange: nowhere,
    rangeToLocation: nowhere,
  };
}

function nowhere(): never {
  throw new Error('places in lines are not known here');
}

function maintainedShapes(text: string): readonly FoundSecret[] {
  reports.length = 0;
  for (const check of checks) check(text);
  return reports.slice();
}

/** `@secretlint/secretlint-rule-database-connection-string` → database connection string. */
function kindOf(id: string): string {
  const name = id.replace(/^.*secretlint-rule-/u, '').replaceAll('-', ' ');
  return name === 'basicauth' ? 'address with a password' : `${name} secret`;
}
