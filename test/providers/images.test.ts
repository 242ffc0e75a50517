/** A refused image or PDF is left out, on every wire, and the conversation goes on. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatProvider } from '../../src/messages/chat.ts';
import { unknownAbilities } from '../../src/messages/model.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { message, type StatusAnswer, say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import {
  assistantText,
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  okResult,
  type TestDeps,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const refusal = (text: string, more: Partial<StatusAnswer> = {}): StatusAnswer => ({
  ...{ kind: 'status', status: 400, message: text },
  ...more,
});
/** Tells images apart, and is long enough not to stand anywhere else. */
const base64Of = (name: string): string => Buffer.from(`the image ${name}.`).toString('base64');
const withImages = (...names: string[]): ChatMessage => ({
  role: 'user',
  parts: [
    { kind: 'text', text: 'look' },
    ...names.map(
      (name) => ({ kind: 'image', mediaType: 'image/png', base64: base64Of(name) }) as const,
    ),
  ],
});

const models: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.2-sol',
  compatible: 'm',
  gemini: 'gemini-3.6-flash',
};
const wires: readonly WireName[] = ['anthropic', 'openai', 'compatible', 'gemini'];

describe('a refused image', () => {
  let server: ModelServer;
  let deps: TestDeps;
  beforeEach(async () => {
    server = await createModelServer();
    deps = createTestDeps();
  });
  afterEach(() => server.close());

  const makers: Record<WireName, () => ChatProvider> = {
    anthropic: () =>
      createAnthropicProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('anthropic') }),
    openai: () => createOpenaiProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('openai') }),
    compatible: () => createCompatibleProvider(deps, { baseUrl: server.baseUrl('compatible') }),
    gemini: () => createGeminiProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('gemini') }),
  };
  const ask = async (wire: WireName, messages: readonly ChatMessage[]) =>
    await collect(makers[wire]().stream(chatRequestOf(models[wire], messages), never));
  /** The names of the images in each request so far. */
  const shown = (...names: string[]): readonly string[] =>
    server.requests.map(({ body }) => {
      const text = JSON.stringify(body);
      return names.filter((name) => text.includes(base64Of(name))).join(' ');
    });
  const refuseWhileShown = (name: string, text = 'Could not process image'): void =>
    server.otherwise(({ body }) =>
      JSON.stringify(body).includes(base64Of(name)) ? refusal(text) : say('Fine.'),
    );
  const learnedBy = (wire: WireName) => deps.learned.read(server.baseUrl(wire), models[wire]);

  it.each<[WireName, StatusAnswer]>([
    [
      'anthropic',
      refusal('messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6 > 5 bytes'),
    ],
    [
      'anthropic',
      refusal(
        'messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
      ),
    ],
    [
      'anthropic',
      refusal('', {
        body: JSON.stringify({
          type: 'error',
          error: {
            type: 'invalid_request_error',
            message: 'An image is too large.',
            details: {
              error_code: 'image_dimensions_too_large',
              max_side_length_pixels: 2000,
              paths: ['messages.0.content.1'],
            },
          },
        }),
      }),
    ],
    [
      'openai',
      refusal('The image data you provided does not represent a valid image.', {
        param: 'input[0].content[1].image_url',
        code: 'invalid_value',
      }),
    ],
    ['compatible', refusal("Invalid 'messages[1].content[1].image_url.url'. Expected a base64 …")],
    ['gemini', refusal("Invalid value at 'contents[0].parts[1].inline_data.data' (TYPE_BYTES)")],
  ])('that %s names is left out for good, the others stay (B109)', async (wire, refused) => {
    server.script(refused, say('Fine.'), say('Fine again.'));
    const messages = [withImages('bad', 'good')];
    const events = await ask(wire, messages);
    expect(events.filter(({ kind }) => kind === 'message_start')).toHaveLength(1);
    await ask(wire, [...messages, assistantText('Fine.'), userText('just text')]);
    expect(shown('bad', 'good')).toEqual(['bad good', 'good', 'good']);
    expect(JSON.stringify(server.requests[1]?.body)).toContain(
      "[image left out: the model's server refused it]",
    );
    expect(await learnedBy(wire)).toEqual([expect.stringMatching(/^without_image:[0-9a-f]{16}$/u)]);
  });

  it.each(wires)('that %s does not name is the newest one (B109)', async (wire) => {
    refuseWhileShown('new', 'Unable to process input image. Please retry or report.');
    const messages = [withImages('old'), assistantText('I see.'), withImages('new')];
    await ask(wire, messages);
    await ask(wire, [...messages, assistantText('Fine.'), userText('just text')]);
    expect(shown('old', 'new')).toEqual(['old new', 'old', 'old']);
  });

  it('that was guessed wrongly is shown again, the right one never', async () => {
    refuseWhileShown('old');
    const messages = [withImages('first', 'old'), assistantText('I see.'), withImages('new')];
    await ask('compatible', messages);
    await ask('compatible', [...messages, assistantText('Fine.'), userText('more')]);
    expect(shown('first', 'old', 'new')).toEqual([
      'first old new',
      'first old',
      'first',
      'first new',
    ]);
    expect(await learnedBy('compatible')).toHaveLength(1);
  });

  it('far back among many costs the images, not the conversation', async () => {
    refuseWhileShown('i0');
    const names = Array.from({ length: 12 }, (_, index) => `i${index}`);
    const messages = names.flatMap((name) => [withImages(name), assistantText('I see.')]);
    await ask('compatible', [...messages, userText('one')]);
    expect(server.requests).toHaveLength(10);
    await ask('compatible', [...messages, userText('one'), assistantText('ok'), userText('two')]);
    expect(server.requests).toHaveLength(11);
    // Those that were left out one by one did not help: they are shown again.
    expect(shown(...names).at(-1)).toBe(names.slice(4).join(' '));
  });

  it('inside the stream is left out too, before anything was said', async () => {
    server.script(
      message({ kind: 'error', type: 'image_parse_error', message: 'The image cannot be parsed.' }),
      say('Fine.'),
    );
    const events = await ask('openai', [withImages('bad')]);
    const kinds = events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'message_start')).toHaveLength(1);
    expect(kinds.at(-1)).toBe('message_end');
    expect(shown('bad')).toEqual(['bad', '']);
  });

  it('inside the stream is an error when something was said', async () => {
    server.script(
      message(
        { kind: 'text', text: 'I see' },
        { kind: 'error', type: 'image_parse_error', message: 'The image cannot be parsed.' },
      ),
    );
    const request = chatRequestOf(models.openai, [withImages('bad')]);
    const { thrown } = await collectUntilThrow(makers.openai().stream(request, never));
    expect(thrown).toMatchObject({ code: 'bad_request' });
    expect(server.requests).toHaveLength(1);
  });

  it('for what it shows is left out, and the model told', async () => {
    server.script(
      refusal('The image was refused.', { code: 'image_content_policy_violation' }),
      say('I was not shown it.'),
    );
    await ask('openai', [withImages('bad')]);
    expect(shown('bad')).toEqual(['bad', '']);
  });

  it.each<[string, number, string]>([
    ['OpenRouter', 404, 'No endpoints found that support image input'],
    ['llama.cpp', 500, 'image input is not supported - hint: you may need to provide the mmproj'],
    ['vLLM', 400, 'test-model is not a multimodal model'],
    ['DeepSeek', 400, 'messages[1]: unknown variant `image_url`, expected `text`'],
  ])('because the model of %s has no eyes leaves all images out', async (_who, status, text) => {
    server.script(refusal(text, { status }), say('Fine.'), say('Fine again.'));
    const messages = [withImages('a', 'b')];
    await ask('compatible', messages);
    await ask('compatible', [...messages, assistantText('Fine.'), withImages('c')]);
    expect(shown('a', 'b', 'c')).toEqual(['a b', '', '']);
    expect(JSON.stringify(server.requests[2]?.body)).toContain(
      '[image left out: this model cannot look at images]',
    );
    expect(await learnedBy('compatible')).toEqual(['no_images']);
  });

  it('because there are too many keeps the newest', async () => {
    server.script(refusal('At most 2 image(s) may be provided in one request.'), say('Fine.'));
    await ask('compatible', [withImages('a'), assistantText('ok'), withImages('b', 'c')]);
    expect(shown('a', 'b', 'c')).toEqual(['a b c', 'c']);
    expect(await learnedBy('compatible')).toEqual(['most_media:2']);
  });

  it.each<[string, StatusAnswer, object]>([
    ['about something else', refusal('temperature is not a number'), { code: 'bad_request' }],
    ['by an overloaded server', refusal('The image service is busy', { status: 503 }), {}],
    ['that leaves nothing to leave out', refusal('Could not process image'), {}],
  ])('is none when the refusal is %s', async (what, refused, expected) => {
    server.otherwise(refused);
    const messages = what.includes('nothing') ? [userText('no image')] : [withImages('a')];
    const request = chatRequestOf('m', messages);
    const { thrown } = await collectUntilThrow(makers.compatible().stream(request, never));
    expect(thrown).toMatchObject(expected);
    expect(server.requests).toHaveLength(1);
  });

  it('ends in an error when leaving it out does not help, and is not remembered', async () => {
    server.otherwise(refusal('Something about an image.'));
    const request = chatRequestOf('m', [withImages('a', 'b')]);
    const { thrown } = await collectUntilThrow(makers.compatible().stream(request, never));
    expect(thrown).toMatchObject({ code: 'bad_request' });
    expect(shown('a', 'b')).toEqual(['a b', 'a', '']);
    expect(await learnedBy('compatible')).toEqual([]);
  });

  it.each(wires)('is not even tried on %s where the catalog knows better', async (wire) => {
    server.script(say('Fine.'));
    const abilities = { ...unknownAbilities, images: false };
    const request = chatRequestOf(models[wire], [withImages('a')], { abilities });
    await collect(makers[wire]().stream(request, never));
    expect(shown('a')).toEqual(['']);
    expect(JSON.stringify(server.requests[0]?.body)).toContain('cannot look at images');
  });

  it.each<[string, string, string, string]>([
    ['the newest', 'Could not process PDF', 'new.pdf', 'old.pdf'],
    ['the oldest', 'A maximum of 100 PDF pages may be provided.', 'old.pdf', 'new.pdf'],
  ])('may be a PDF: %s when there are %s', async (_which, text, gone, kept) => {
    server.script(refusal(text), say('Fine.'));
    const document = (name: string): ChatMessage => ({
      role: 'user',
      parts: [
        { kind: 'document', mediaType: 'application/pdf', name, base64: base64Of(name) },
        { kind: 'image', mediaType: 'image/png', base64: base64Of('seen') },
      ],
    });
    await ask('anthropic', [document('old.pdf'), assistantText('I see.'), document('new.pdf')]);
    const sent = JSON.stringify(server.requests[1]?.body);
    const left = (name: string): string =>
      `[file ${name} (application/pdf) left out: the model's server refused it]`;
    expect(sent).toContain(left(gone));
    expect(sent).not.toContain(left(kept));
    expect(shown('seen')).toEqual(['seen', 'seen']);
  });

  it.each<[string, WireName, StatusAnswer]>([
    [
      'a page of nginx',
      'compatible',
      refusal('', {
        status: 413,
        contentType: 'text/html',
        body: '<html><head><title>413 Request Entity Too Large</title></head><body><center><h1>413 Request Entity Too Large</h1></center></body></html>',
      }),
    ],
    [
      "Anthropic's own words",
      'anthropic',
      refusal('Request exceeds the maximum size', { status: 413, type: 'request_too_large' }),
    ],
    [
      "Gemini's own words",
      'gemini',
      refusal('Request payload size exceeds the limit: 20971520 bytes.'),
    ],
    ['an empty answer', 'openai', refusal('', { status: 413, body: '' })],
  ])(
    'for its size, by %s, is left out before anybody loses history (B109)',
    async (_how, wire, refused) => {
      server.otherwise(({ body }) => {
        const text = JSON.stringify(body);
        const isLarge =
          ['old', 'new', 'last'].filter((name) => text.includes(base64Of(name))).length > 1;
        return isLarge ? refused : say('Fine.');
      });
      const messages = [withImages('old', 'new'), assistantText('I see.'), withImages('last')];
      await ask(wire, messages);
      await ask(wire, [...messages, assistantText('Fine.'), userText('more')]);
      expect(shown('old', 'new', 'last')).toEqual(['old new last', 'old new', 'old', 'old']);
    },
  );

  it('for its size is an overflow in the end where that does not help', async () => {
    server.otherwise(refusal('Request exceeds the maximum size', { status: 413 }));
    const request = chatRequestOf('m', [withImages('a', 'b')]);
    const { thrown } = await collectUntilThrow(makers.compatible().stream(request, never));
    expect(thrown).toMatchObject({ code: 'context_overflow' });
    expect(shown('a', 'b')).toEqual(['a b', 'a', '']);
    expect(await learnedBy('compatible')).toEqual([]);
  });

  it.each([
    "'messages.1.content' : value must be a string",
    'messages[1].content: invalid type: sequence, expected a string at line 1 column 90',
    "Invalid type for 'messages[1].content': expected a string, but got an array instead.",
    'body.messages.1.content: Input should be a valid string',
    'content field must be a string',
  ])('because the server takes texts alone leaves all images out (B109): %s', async (text) => {
    server.script(refusal(text), say('Fine.'), say('Fine again.'));
    const messages = [withImages('a', 'b')];
    await ask('compatible', messages);
    await ask('compatible', [...messages, assistantText('Fine.'), withImages('c')]);
    expect(shown('a', 'b', 'c')).toEqual(['a b', '', '']);
    expect(await learnedBy('compatible')).toEqual(['no_images']);
  });

  it.each([
    'messages.2.content: value must be a string',
    "Invalid type for 'messages[2].content': expected a string, but got null instead.",
  ])('is none where another message lacks its text: %s', async (text) => {
    server.script(refusal(text), say('Fine.'));
    const called: ChatMessage = {
      role: 'assistant',
      parts: [{ kind: 'tool_call', callId: 'call_1', name: 'clock', input: {} }],
    };
    await ask('compatible', [withImages('a'), called, okResult('call_1', 'clock', 'noon')]);
    expect(shown('a')).toEqual(['a', 'a']);
    expect(await learnedBy('compatible')).toEqual(['empty_content']);
  });
});
