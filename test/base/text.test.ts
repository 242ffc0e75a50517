/** Cutting of text, on both sides of each limit. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPoint, cutToBytes, cutToUnits, firstWords, graphemeEnd } from '../../src/base/text.ts';

const family = '👨‍👩‍👧';

describe('cutToBytes', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab'],
    ['abc', 0, ''],
    ['aé', 3, 'aé'],
    ['aé', 2, 'a'],
    ['日本', 6, '日本'],
    ['日本', 5, '日'],
    ['日本', 2, ''],
    ['a😀', 5, 'a😀'],
    ['a😀', 4, 'a'],
  ])('cuts %j to at most %i bytes: %j', (text, most, expected) => {
    expect(cutToBytes(text, most)).toBe(expected);
  });

  it('gives a beginning within the limit that one more character would pass', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, most) => {
        const cut = cutToBytes(text, most);
        const next = Array.from(text)[Array.from(cut).length] ?? '';
        expect(text.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most);
        expect(next === '' || Buffer.byteLength(cut + next) > most).toBe(true);
      }),
    );
  });
});

describe('cutToUnits', () => {
  it.each([
    ['hello', 5, 'hello'],
    ['hello', 4, 'hel…'],
    ['hello', 1, '…'],
    ['hello world', 7, 'hello…'],
    ['ab😀', 4, 'ab😀'],
    ['ab😀c', 4, 'ab…'],
    [`ab${family}`, 9, 'ab…'],
    [family, 3, '…'],
    ['', 0, ''],
  ])('cuts %j to at most %i units: %j', (text, most, expected) => {
    expect(cutToUnits(text, most)).toBe(expected);
  });
});

describe('graphemeEnd', () => {
  it.each([
    ['abc', 3, 3],
    ['abc', 2, 2],
    ['abc', 0, 0],
    [`a${family}b`, 8, 1],
    [`a${family}b`, 9, 9],
    [`a${family}b`, 10, 10],
    ['e\u0301x', 1, 0],
    ['e\u0301x', 2, 2],
    ['🇩🇪🇫🇷', 4, 4],
    ['🇩🇪🇫🇷', 7, 4],
    ['a\r\nb', 2, 1],
  ])('is in %j, for at most %i units, %i', (text, most, expected) => {
    expect(graphemeEnd(text, most)).toBe(expected);
  });
});

describe('firstWords', () => {
  it('puts words on one line and cuts them', () => {
    expect(firstWords('  why is\n\tcheckout   slow? ', 100)).toBe('why is checkout slow?');
    expect(firstWords('why is\ncheckout slow?', 21)).toBe('why is checkout slow?');
    expect(firstWords('why is\ncheckout slow?', 20)).toBe('why is checkout slo…');
    expect(firstWords(' \n ', 10)).toBe('');
  });
});

describe('cutPoint', () => {
  it('is the border at or before, for any short text (property)', () => {
    const sign = fc.constantFrom('a', ' ', 'e\u0301', '😀', '🇩🇪', '👨‍👩‍👧', '\r\n', 'ü', '한');
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 60 }), fc.nat({ max: 200 }), (signs, at) => {
        const text = signs.join('');
        expect(cutPoint(text, at)).toBe(at >= text.length ? text.length : graphemeEnd(text, at));
      }),
    );
  });

  it.each(['😀', '🇩🇪', 'e\u0301', '👨‍👩‍👧', 'ä'])('divides no %s in a long text', (sign) => {
    for (const before of ['', 'ü', 'a\u0301']) {
      const text = before + sign.repeat(3000);
      for (let at = 1500; at < 1540; at += 1) {
        const cut = cutPoint(text, at);
        expect((cut - before.length) % sign.length).toBe(0);
        expect(at - cut).toBeLessThan(sign.length);
      }
    }
  });

  it('takes no time for a long text, nor for a sign without end', () => {
    const at = performance.now();
    for (const text of ['x'.repeat(5e6), `e${'\u0301'.repeat(5e6)}`, '🇩'.repeat(2e6)]) {
      expect(cutPoint(text, 4_000_000 - 1)).toBeGreaterThan(4_000_000 - 600);
    }
    expect(performance.now() - at).toBeLessThan(1000);
  });
});
