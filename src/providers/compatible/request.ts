/** ChatRequest → Chat Completions request, as the profile of its server wants it. */

import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import type { ChatRequest, ToolSpec } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import { isBareTool } from '../bare-schemas.ts';
import { nineCharId } from '../call-ids.ts';
import { formerTools } from '../former-tools.ts';
import { knownRequest } from '../known-request.ts';
import { fitMedia } from '../media.ts';
import { normaliseMessages, type Turn } from '../normalise.ts';
import { fitSchema } from '../schema.ts';
import { thoughtsFrom } from '../stale-thoughts.ts';
import { type Message, type MessageRules, messagesOf } from './messages.ts';
import type { ServerProfile } from './profiles.ts';
import { isThinkingOff, thinkingFields } from './thinking.ts';

type Params = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type Fields = Readonly<Record<string, unknown>>;

/** `learned` names what this server refused before (see the provider's adaptations). */
export function chatRequest(
  given: ChatRequest,
  origin: Origin,
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): Params {
  const request = knownRequest(given, learned);
  const hasNineChars = profile.callIds === 'nine_chars' || learned.has('nine_char_ids');
  const turns = normaliseMessages(fitMedia(seenBy(request, profile), learned), {
    origin,
    isContent: neverContent,
    thoughtsFrom: thoughtsFrom(request.messages, learned),
    ...(hasNineChars ? { fitId: nineCharId } : {}),
  });
  const role = learned.has('system_role') ? 'system' : profile.systemRole;
  const system: Message[] = request.system === '' ? [] : [{ role, content: request.system }];
  const isSwapped = learned.has('swap_limit');
  const usesCompletion = (profile.limitField === 'max_completion_tokens') !== isSwapped;
  const limit = request.mostOutputTokens;
  const rules = rulesOf(request, profile, learned);
  const body: Params = {
    model: request.model,
    stream: true,
    messages: [...system, ...turns.flatMap((turn) => messagesOf(turn, rules))],
    ...(usesCompletion ? { max_completion_tokens: limit } : { max_tokens: limit }),
    ...(learned.has('no_stream_options') ? {} : { stream_options: { include_usage: true } }),
  };
  // Many of these fields are the server's own, which the vendor of the SDK does not know.
  return Object.assign(body, {
    ...thinkingFields(request, profile, learned),
    ...verbosityField(request),
    ...toolFields(request, turns, profile, learned),
    ...cacheField(request, profile, learned),
  });
}

/** Headers that the profile wants with a request. */
export function requestHeaders(
  { reasoning, cacheKey }: ChatRequest,
  profile: ServerProfile,
): Readonly<Record<string, string>> {
  if (profile.cacheKey?.place !== 'header' || reasoning.caching === false) return {};
  return { [profile.cacheKey.name]: hashed(cacheKey) };
}

const neverContent = (): boolean => false;

function rulesOf(
  request: ChatRequest,
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): MessageRules {
  const always = profile.alwaysReasoning || learned.has('always_reasoning');
  return {
    emptyContent: emptyContentOf(profile, learned),
    alwaysReasoning: always && !isThinkingOff(request),
    answersTools: profile.answersTools || learned.has('answer_after_tools'),
  };
}

/** PDFs go as `file` parts, where the server takes such. */
export function seenBy(request: ChatRequest, { takesFiles }: ServerProfile): ChatRequest {
  const { abilities } = request;
  const documents = takesFiles && abilities.documents;
  return { ...request, abilities: { ...abilities, documents } };
}

function emptyContentOf(profile: ServerProfile, learned: ReadonlySet<string>): null | '' {
  if (learned.has('empty_content')) return '';
  return learned.has('null_content') ? null : profile.emptyContent;
}

function verbosityField({ reasoning, abilities }: ChatRequest): Fields {
  const { verbosity } = reasoning;
  return verbosity === undefined || !abilities.verbosity ? {} : { verbosity };
}

/** Tools, and the search that the server runs by itself. */
function toolFields(
  request: ChatRequest,
  turns: readonly Turn[],
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): Fields {
  const { abilities, tools: own, webSearch } = request;
  const search =
    webSearch && abilities.webSearch && !learned.has('no_search')
      ? profile.search
      : ({ kind: 'none' } as const);
  // Some servers refuse a history with calls to tools that are not declared.
  const former = own.length === 0 ? formerTools(turns) : [];
  const functions = [...own, ...former].map((tool) => toolOf(tool, learned));
  const tools = search.kind === 'tool' ? [...functions, search.tool] : functions;
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(former.length > 0 && search.kind !== 'tool' ? { tool_choice: 'none' } : {}),
    ...(own.length === 0 || learned.has('no_tool_fields') ? {} : profile.withTools),
    ...(search.kind === 'fields' ? search.fields : {}),
  };
}

function toolOf(
  tool: ToolSpec,
  learned: ReadonlySet<string>,
): OpenAI.Chat.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: isBareTool(learned, tool.name)
        ? { type: 'object' }
        : fitSchema(tool.inputSchema, 'plain'),
    },
  };
}

function cacheField(
  { reasoning, cacheKey }: ChatRequest,
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): Fields {
  if (profile.cacheKey?.place !== 'body' || reasoning.caching === false) return {};
  return learned.has('no_cache_key') ? {} : { [profile.cacheKey.name]: hashed(cacheKey) };
}

/** Short and plain, whatever the key is made of. */
function hashed(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
