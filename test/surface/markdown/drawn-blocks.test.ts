/** The memory of drawn blocks. */

import { describe, expect, it } from 'vitest';
import { createDrawnBlocks } from '../../../src/surface/markdown/drawn-blocks.ts';

const setUp = () => {
  const asked: string[] = [];
  const blocks = createDrawnBlocks((markdown, people) => {
    asked.push(markdown);
    return `${markdown} for ${people.length}`;
  });
  return { asked, blocks };
};
const anna = { id: 'slack:U1', name: 'Anna' };

describe('createDrawnBlocks', () => {
  it('draws a block once', () => {
    const { asked, blocks } = setUp();
    expect(blocks.of('a', [])).toBe('a for 0');
    expect(blocks.of('a', [])).toBe('a for 0');
    expect(asked).toEqual(['a']);
  });

  it('draws anew for other people, but not where nobody can be mentioned', () => {
    const { asked, blocks } = setUp();
    expect(blocks.of('hi @Anna', [])).toBe('hi @Anna for 0');
    expect(blocks.of('hi @Anna', [anna])).toBe('hi @Anna for 1');
    blocks.of('hi', [anna]);
    blocks.of('hi', []);
    expect(asked).toEqual(['hi @Anna', 'hi @Anna', 'hi']);
  });

  it('forgets the one not used for longest after 400', () => {
    const { asked, blocks } = setUp();
    for (let index = 0; index < 400; index += 1) blocks.of(`${index}`, []);
    blocks.of('0', []);
    expect(asked).toHaveLength(400);
    blocks.of('400', []);
    blocks.of('0', []);
    expect(asked).toHaveLength(401);
    blocks.of('1', []);
    expect(asked).toHaveLength(402);
  });
});
