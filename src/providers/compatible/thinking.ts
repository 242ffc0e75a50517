/** What is asked of a model's thinking, in the words of its server. */

import type { ChatRequest } from '../../messages/chat.ts';
import { askedBudget, askedEffort } from '../budgets.ts';
import type { ServerProfile } from './profiles.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Is thinking turned off by this request? */
export function isThinkingOff(request: ChatRequest): boolean {
  return askedEffort(request) === 'none';
}

/** Is thinking turned on? Also where a model knows nothing but on and off. */
function isThinkingOn({ reasoning, abilities }: ChatRequest): boolean {
  const { effort } = reasoning;
  return effort !== undefined && effort !== 'none' && abilities.thinking.length > 0;
}

/** Fields of the body; empty when nothing is wished, or the model takes no wishes. */
export function thinkingFields(
  request: ChatRequest,
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): Fields {
  // OpenAI's models take functions by this API only when they do not think.
  if (learned.has('no_effort_with_tools') && request.tools.length > 0) {
    return { reasoning_effort: 'none' };
  }
  if (learned.has('no_thinking')) return {};
  const effort = askedEffort(request);
  const named = effort === undefined ? {} : { reasoning_effort: effort };
  switch (profile.thinking.kind) {
    case 'effort':
      return named;
    case 'thinking_type':
      return thinkingType(request, profile.thinking.kept ?? {}, named);
    case 'enable_thinking':
      return request.abilities.thinking.includes('effort') ? named : enableThinking(request);
    case 'reasoning_object':
      return reasoningObject(request);
    case 'template':
      return template(request);
  }
}

/** An effort beside `disabled` is refused. */
function thinkingType(request: ChatRequest, kept: Fields, named: Fields): Fields {
  const { thinking } = request.abilities;
  if (thinking.length === 0) return {};
  if (isThinkingOff(request)) return { thinking: { type: 'disabled' } };
  if (!isThinkingOn(request) && Object.keys(kept).length === 0) return {};
  return {
    thinking: { type: 'enabled', ...kept },
    ...(thinking.includes('effort') ? named : {}),
  };
}

function enableThinking(request: ChatRequest): Fields {
  if (isThinkingOff(request)) return { enable_thinking: false };
  const budget = askedBudget(request);
  if (budget !== undefined) return { enable_thinking: true, thinking_budget: budget };
  return isThinkingOn(request) ? { enable_thinking: true } : {};
}

/** An effort and a number together are refused. */
function reasoningObject(request: ChatRequest): Fields {
  const { abilities, reasoning } = request;
  if (abilities.thinking.length === 0) return {};
  const effort = askedEffort(request);
  const budget = effort === 'none' ? undefined : askedBudget(request);
  const wish = {
    ...(budget === undefined ? {} : { max_tokens: budget }),
    ...(budget === undefined && effort !== undefined ? { effort } : {}),
    ...(budget === undefined && effort === undefined && isThinkingOn(request)
      ? { enabled: true }
      : {}),
    ...(reasoning.summary === 'none' ? { exclude: true } : {}),
  };
  return Object.keys(wish).length === 0 ? {} : { reasoning: wish };
}

function template(request: ChatRequest): Fields {
  const { thinking } = request.abilities;
  const effort = askedEffort(request);
  const isOff = isThinkingOff(request);
  const isSaid = isOff || isThinkingOn(request);
  const wish = {
    ...(isSaid && thinking.includes('off') ? { enable_thinking: !isOff } : {}),
    ...(effort !== undefined && !isOff && thinking.includes('effort')
      ? { reasoning_effort: effort }
      : {}),
  };
  return Object.keys(wish).length === 0 ? {} : { chat_template_kwargs: wish };
}
