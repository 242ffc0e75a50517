/** The secrets filter: known values in any encoding, token shapes, and ordinary words left alone. */

import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/base/redaction.ts';
import caseB165 from '../cases/B165.json' with { type: 'json' };
import caseB166 from '../cases/B166.json' with { type: 'json' };

const value = '8f14e45f-ceea-467f-9b1c-0f7d9a3b2c1d';
const redactor = createRedactor([
  { name: 'DEMO_API_TOKEN', value },
  { name: 'SHORT', value: 'abc' },
  { name: 'LONGER', value: `${value}-and-more` },
  { name: 'SPECIAL', value: 'p@ss/word+1' },
]);

describe('the redactor', () => {
  it.each([
    [value, '[redacted: DEMO_API_TOKEN]'],
    [`${value}-and-more`, '[redacted: LONGER]'],
    [Buffer.from(value).toString('base64'), '[redacted: DEMO_API_TOKEN]'],
    [encodeURIComponent('p@ss/word+1'), '[redacted: SPECIAL]'],
    ['xoxb-1234567890-abcdefghijkl', '[redacted: slack token]'],
    ['xapp-1-A012345-1234567890-0123456789abcdef', '[redacted: slack app token]'],
    [['sk', 'ant', 'test0', 'a'.repeat(24)].join('-'), '[redacted: anthropic key]'],
    ['sk-proj-abcdefghijklmnopqrstuvwx', '[redacted: openai key]'],
    ['postgres://deck:hunter22@db/x', 'postgres://deck:[redacted: password in address]@db/x'],
  ])('takes out %j', (text, expected) => {
    expect(redactor.redact(`a ${text} b`)).toBe(`a ${expected} b`);
  });

  it.each([
    ...[0, 1, 2].map((offset) => Buffer.from(`${'x'.repeat(offset)}${value}yz`).toString('base64')),
    Buffer.from(`user:${value}`).toString('base64url'),
    Buffer.from(value).toString('hex'),
    `https://example.com/?k=${encodeURIComponent('p@ss/word+1')}`,
  ])('takes out a value inside %j', (text) => {
    expect(redactor.redact(text)).toMatch(/\[redacted: (?:DEMO_API_TOKEN|SPECIAL)\]/u);
  });

  it.each([
    ['SendGrid', `SG.${'a'.repeat(22)}.${'b'.repeat(43)}`],
    ['npm', `npm_${'aB3dE6gH9k'.repeat(4).slice(0, 36)}`],
    ['GitHub', `ghp_${'aB3dE6gH9k'.repeat(4).slice(0, 36)}`],
    ['a connection string', 'mongodb+srv://deck:hunter22@cluster.example.net/x'],
    ['basic authentication', 'Authorization: Basic dXNlcjpwYXNzd29yZA=='],
  ])('takes out the shape of %s, and nothing around it', (_what, text) => {
    const clean = redactor.redact(`before ${text} after`);
    expect(clean).toMatch(/^before .*\[redacted: .+\].* after$/u);
    expect(clean).not.toContain(text);
  });

  it.each(
    caseB166.input.texts.map(
      (parts, index) => [parts.join(''), caseB166.expected.redacted[index]] as const,
    ),
  )('B166: %j is taken out: %s', (text, isRedacted) => {
    expect(redactor.redact(text) !== text).toBe(isRedacted);
  });

  it('B165: takes a value out that comes in two pieces, and never shows its beginning', () => {
    const { env, streamDeltas } = caseB165.input;
    const own = createRedactor([{ name: 'DEMO_API_TOKEN', value: env.DEMO_API_TOKEN }]);
    let text = '';
    for (const delta of streamDeltas) {
      text += delta;
      const whole = own.redact(text);
      const frame = whole.slice(0, whole.length - own.heldBack(whole));
      expect(frame).not.toContain('5f2b0c1e');
    }
    expect(own.redact(text)).toContain('C.UTF-8');
  });

  it('takes out private keys over several lines, also cut ones', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----';
    expect(redactor.redact(`x\n${key}\ny`)).toBe('x\n[redacted: private key]\ny');
    expect(redactor.redact(`x\n${key.slice(0, 40)}`)).not.toContain('MII');
  });

  it.each([
    'xapp-store',
    'sk-learn',
    'abc',
    'https://example.com/a:b@c',
    'the token is not here',
    'AKIA',
  ])('leaves %j alone (B166)', (text) => {
    expect(redactor.redact(text)).toBe(text);
  });

  it('holds back what could be the beginning of a secret, from four characters on', () => {
    expect(redactor.heldBack(`it is ${value.slice(0, 3)}`)).toBe(0);
    expect(redactor.heldBack(`it is ${value.slice(0, 4)}`)).toBe(4);
    expect(redactor.heldBack(`it is ${value.slice(0, 20)}`)).toBe(20);
    expect(redactor.heldBack('nothing of the kind')).toBe(0);
  });
});
