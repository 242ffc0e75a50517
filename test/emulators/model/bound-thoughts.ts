/**
 * Anthropic binds each thinking block of its current models to all that stood before it: system
 * prompt, tools, every earlier message and block. This book listens to the answers that go out,
 * keeps what each signature was bound to, and knows a request that puts it behind something else.
 * Marks for the cache are no content; a text may be given by itself or as a block.
 */

import { createHash } from 'node:crypto';
import { type JsonObject, objectOf, objectsOf, stringOf } from './wire.ts';

export interface BoundThoughts {
  /** The objection to a request whose thoughts stand where they did not come from. */
  objection(body: JsonObject): string | undefined;
  /** Hears the events of the answer to this request, one after the other. */
  listen(body: JsonObject): (event: JsonObject) => void;
}

const bindingModels = /^claude-(?:(?:opus|sonnet|haiku)-5-5|(?:fable|mythos)-5-[12])/u;

export function createBoundThoughts(): BoundThoughts {
  const prefixOf = new Map<string, string>();
  return {
    objection: (body) => {
      if (!bindingModels.test(stringOf(body['model']))) return undefined;
      const before: string[] = [];
      for (const [place, message] of objectsOf(body['messages']).entries()) {
        for (const [index, block] of blocksOf(message).entries()) {
          const bound = prefixOf.get(stringOf(block['signature']));
          if (bound !== undefined && bound !== prefixHash(body, before)) {
            return `messages.${place}.content.${index}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
          }
          before.push(entryOf(stringOf(message['role']), block));
        }
      }
      return undefined;
    },
    listen: (body) => {
      const before = objectsOf(body['messages']).flatMap((message) =>
        blocksOf(message).map((block) => entryOf(stringOf(message['role']), block)),
      );
      let open: Record<string, unknown> = {};
      let json = '';
      return (event) => {
        const delta = objectOf(event['delta']);
        switch (stringOf(event['type'])) {
          case 'content_block_start':
            open = { ...objectOf(event['content_block']) };
            json = '';
            return;
          case 'content_block_delta':
            json += stringOf(delta['partial_json']);
            for (const field of ['text', 'thinking', 'signature']) {
              if (field in delta) open[field] = stringOf(open[field]) + stringOf(delta[field]);
            }
            return;
          case 'content_block_stop': {
            const signature = stringOf(open['signature']);
            if (signature !== '') prefixOf.set(signature, prefixHash(body, before));
            const input: unknown = json === '' ? open['input'] : parseJson(json);
            before.push(entryOf('assistant', { ...open, input }));
            return;
          }
          default:
        }
      };
    },
  };
}

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
}

/** A block as it counts: what the client may add or leave out is not in it. */
function entryOf(role: string, block: JsonObject): string {
  const { type, text, id, name, input, thinking, signature } = block;
  switch (stringOf(type)) {
    case 'text':
      return JSON.stringify([role, { type, text }]);
    case 'tool_use':
      return JSON.stringify([role, { type, id, name, input }]);
    case 'thinking':
      return JSON.stringify([role, { type, thinking, signature }]);
    default:
      return JSON.stringify([role, block], withoutMarks);
  }
}

function prefixHash(body: JsonObject, before: readonly string[]): string {
  const { system, tools } = body;
  const said = typeof system === 'string' ? [{ type: 'text', text: system }] : (system ?? []);
  const whole = JSON.stringify([said, tools ?? [], before], withoutMarks);
  return createHash('sha256').update(whole).digest('hex');
}

const withoutMarks = (key: string, value: unknown): unknown =>
  key === 'cache_control' ? undefined : value;

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json; // Cut: such a call does not come back as it was.
  }
}
