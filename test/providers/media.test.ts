/** Which images and documents a model is sent, and what stands in place of the others. */

import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import { mostMediaChars } from '../../src/messages/media.ts';
import { type Abilities, unknownAbilities } from '../../src/messages/model.ts';
import type { DocumentPart, ImagePart, UserPart } from '../../src/messages/parts.ts';
import { fitMedia, refusalOf } from '../../src/providers/media.ts';
import { withAccused } from '../../src/providers/media-refusals.ts';
import { assistantText, userText } from '../support/providers.ts';

const image = (base64: string): ImagePart => ({ kind: 'image', mediaType: 'image/png', base64 });
const pdf = (name: string, base64 = name): DocumentPart => ({
  ...{ kind: 'document', mediaType: 'application/pdf', name, base64 },
});
const said = (...parts: UserPart[]): ChatMessage => ({ role: 'user', parts });
const seesAll: Abilities = { ...unknownAbilities, documents: true };

interface Knowing {
  readonly abilities?: Abilities;
  readonly learned?: readonly string[];
}

function fitted(messages: readonly ChatMessage[], knowing: Knowing = {}): readonly ChatMessage[] {
  const { abilities = seesAll, learned = [] } = knowing;
  return fitMedia({ messages, abilities }, new Set(learned));
}

/** Each part as a word: the base64 of media, else the text. */
function words(messages: readonly ChatMessage[]): readonly string[] {
  return messages.flatMap((message) => {
    const parts =
      message.role === 'tool' ? message.results.flatMap((result) => result.parts) : message.parts;
    return parts.map((part) => {
      if (part.kind === 'text') return part.text;
      return part.kind === 'image' || part.kind === 'document' ? part.base64 : part.kind;
    });
  });
}

const oldImage = '[image left out: only the newest ones are shown]';
/** `count` turns, each with an image and an answer. */
const turnsOf = (
  count: number,
  answer: (turn: number) => ChatMessage = () => assistantText('ok'),
) =>
  Array.from({ length: count }, (_, turn) => [
    said(image(`i${turn + 1}`)),
    answer(turn + 1),
  ]).flat();

describe('what a model cannot look at', () => {
  const toolResult: ChatMessage = {
    role: 'tool',
    results: [
      {
        ...{ callId: 'c1', name: 'FileRead', outcome: 'ok' },
        parts: [{ kind: 'text', text: 'shot.png:' }, image('result'), pdf('b.pdf')],
      },
    ],
  };
  const messages = [said({ kind: 'text', text: 'look' }, image('mine'), pdf('a.pdf')), toolResult];

  it('is told in a line, in messages and in results', () => {
    expect(words(fitted(messages, { abilities: { ...seesAll, images: false } }))).toEqual([
      'look',
      '[image left out: this model cannot look at images]',
      'a.pdf',
      'shot.png:',
      '[image left out: this model cannot look at images]',
      'b.pdf',
    ]);
    expect(words(fitted(messages, { abilities: { ...seesAll, documents: false } }))).toEqual([
      'look',
      'mine',
      '[file a.pdf (application/pdf): this model cannot read it]',
      'shot.png:',
      'result',
      '[file b.pdf (application/pdf): this model cannot read it]',
    ]);
  });

  it('may have been learned from its server', () => {
    const learned = ['no_images', 'no_documents'];
    expect(words(fitted(messages, { learned }))).toEqual(
      words(fitted(messages, { abilities: { ...seesAll, images: false, documents: false } })),
    );
  });

  it('is what its server refused once, wherever it stands', () => {
    const learned = [image('mine'), pdf('b.pdf')].map(refusalOf);
    expect(learned[0]).toMatch(/^without_image:[0-9a-f]{16}$/u);
    expect(learned[1]).toMatch(/^without_document:[0-9a-f]{16}$/u);
    expect(words(fitted([...messages, said(image('mine'))], { learned }))).toEqual([
      'look',
      "[image left out: the model's server refused it]",
      'a.pdf',
      'shot.png:',
      'result',
      "[file b.pdf (application/pdf) left out: the model's server refused it]",
      "[image left out: the model's server refused it]",
    ]);
  });

  it('leaves messages without it as they are', () => {
    const plain = [userText('a'), assistantText('b')];
    expect(fitted(plain)).toEqual(plain);
  });
});

describe('many images', () => {
  it('all stay up to forty; with the next one the older half goes at once', () => {
    expect(words(fitted(turnsOf(40)))).not.toContain(oldImage);
    const left = words(fitted(turnsOf(41))).filter((word) => word !== 'ok');
    expect(left.filter((word) => word === oldImage)).toHaveLength(21);
    expect(left.slice(21)).toEqual(Array.from({ length: 20 }, (_, turn) => `i${turn + 22}`));
  });

  it('keep the bytes of what was sent before, but for one step in twenty-one', () => {
    let changes = 0;
    for (let count = 1; count < 130; count += 1) {
      const before = fitted(turnsOf(count));
      const after = fitted(turnsOf(count + 1)).slice(0, before.length);
      if (JSON.stringify(after) !== JSON.stringify(before)) changes += 1;
    }
    expect(changes).toBe(5);
  });

  it('are fewer where the server takes fewer', () => {
    const learned = ['most_media:5'];
    expect(words(fitted(turnsOf(5), { learned }))).not.toContain(oldImage);
    const left = words(fitted(turnsOf(6), { learned })).filter((word) => word !== 'ok');
    expect(left).toEqual([oldImage, oldImage, oldImage, 'i4', 'i5', 'i6']);
  });

  it('may not be too large together, documents counted', () => {
    const half = 'x'.repeat(mostMediaChars / 2);
    const messages = [
      said(pdf('old.pdf', half)),
      said(image(half)),
      said({ kind: 'text', text: '.' }),
    ];
    expect(fitted(messages)).toEqual(messages);
    const left = fitted([...messages, said(image('a'))]);
    expect(words(left)).toEqual([
      '[file old.pdf (application/pdf) left out: only the newest ones are shown]',
      oldImage,
      '.',
      'a',
    ]);
    const whole = [said(image('x'.repeat(mostMediaChars)))];
    expect(fitted(whole)).toEqual(whole);
  });

  it('take with them the thoughts that were bound to them, and no later ones', () => {
    const raw = { origin: { provider: 'p', endpoint: 'e', model: 'm' }, data: { signature: 's' } };
    const messages = turnsOf(43, (turn) => ({
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: `t${turn}`, raw },
        { kind: 'text', text: 'ok', raw },
      ],
    }));
    const thoughts = fitted(messages).flatMap((message) =>
      message.role === 'assistant'
        ? message.parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : []))
        : [],
    );
    expect(thoughts).toEqual(['t41', 't42', 't43']);
    expect(JSON.stringify(fitted(messages).slice(0, 80))).not.toContain('signature');
  });
});

describe('the place that a refusal names', () => {
  const one = 'QUJD';
  const two = 'REVG';
  const block = (data: string) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data },
  });
  const anthropic = {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi' }, block(one)] },
      { role: 'user', content: [{ type: 'tool_result', content: [block(two), block(one)] }] },
    ],
  };
  const openai = {
    input: [{ role: 'user', content: [{ image_url: `data:image/png;base64,${one}` }] }],
  };
  const chat = {
    messages: [{ role: 'user', content: [{ image_url: { url: `data:image/png;base64,${two}` } }] }],
  };
  const gemini = {
    contents: [{ parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: two } }] }],
  };
  const accusedIn = (body: object, message: string, more = {}) =>
    withAccused({ status: 400, message, ...more }, JSON.stringify(body)).accused;
  const nameOf = (base64: string) => refusalOf(image(base64)).replace('without_image:', '');

  it.each([
    ['anthropic', anthropic, 'messages.0.content.1.image.source.base64: image exceeds 5 MB', one],
    ['anthropic, a result', anthropic, 'messages.1.content.0.content.0.image.source: image', two],
    ['anthropic, a PDF', anthropic, 'messages.0.content.1.pdf.source.base64.data: PDF pages', one],
    ['openai', openai, "Invalid 'input[0].content[0].image_url'.", one],
    ['chat', chat, 'messages[0].content[0].image_url.url is invalid', two],
    ['gemini', gemini, "Invalid value at 'contents[0].parts[1].inline_data.data'", two],
  ])('is found in the body: %s', (_wire, body, message, base64) => {
    expect(accusedIn(body, message)).toEqual([nameOf(base64)]);
  });

  it('may stand in the param, or in a list of paths', () => {
    const param = 'input[0].content[0].image_url';
    expect(accusedIn(openai, 'Invalid image.', { param })).toEqual([nameOf(one)]);
    const paths = ['messages.0.content.1', 'messages.1.content.0.content.0'];
    expect(accusedIn(anthropic, 'An image is too large.', { paths })).toEqual(
      [one, two].map(nameOf),
    );
  });

  it.each([
    ['nothing stands there', 'messages.9.content.1: image', anthropic],
    ['several stand there', 'messages.1.content.0: Could not process image', anthropic],
    ['no place is named', 'Could not process image', anthropic],
    ['it is about something else', 'messages.0.content.1: text must not be empty', anthropic],
  ])('accuses nothing when %s', (_why, message, body) => {
    const accused = accusedIn(body, message);
    expect(accused ?? []).toEqual([]);
  });
});
