/** The environment: the only place that reads it. A .env file fills what the environment leaves open. */

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

export type Environment = Readonly<Record<string, string | undefined>>;

/** process.env over the values of `.env` in this folder, if there is one. Empty values count as
 * not set. */
export function readEnvironment(folder: string): Environment {
  const merged = { ...envFile(`${folder}/.env`), ...process.env };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ''));
}

function envFile(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return {};
    throw thrown;
  }
}

/** Which setting each variable sets. The environment wins over the file. */
export const variables: readonly {
  readonly name: string;
  readonly path: readonly string[];
  readonly isSecret: boolean;
  readonly isNumber?: boolean;
}[] = [
  { name: 'SLACK_BOT_TOKEN', path: ['platforms', 'slack', 'botToken'], isSecret: true },
  { name: 'SLACK_APP_TOKEN', path: ['platforms', 'slack', 'appToken'], isSecret: true },
  { name: 'SLACK_SIGNING_SECRET', path: ['platforms', 'slack', 'signingSecret'], isSecret: true },
  { name: 'SLACK_API_URL', path: ['platforms', 'slack', 'apiUrl'], isSecret: false },
  { name: 'DISCORD_TOKEN', path: ['platforms', 'discord', 'token'], isSecret: true },
  { name: 'DISCORD_API_URL', path: ['platforms', 'discord', 'apiUrl'], isSecret: false },
  { name: 'ANTHROPIC_API_KEY', path: ['models', 'anthropic', 'apiKey'], isSecret: true },
  { name: 'ANTHROPIC_BASE_URL', path: ['models', 'anthropic', 'baseUrl'], isSecret: false },
  { name: 'OPENAI_API_KEY', path: ['models', 'openai', 'apiKey'], isSecret: true },
  { name: 'OPENAI_BASE_URL', path: ['models', 'openai', 'baseUrl'], isSecret: false },
  { name: 'GEMINI_API_KEY', path: ['models', 'gemini', 'apiKey'], isSecret: true },
  { name: 'GOOGLE_GEMINI_BASE_URL', path: ['models', 'gemini', 'baseUrl'], isSecret: false },
  { name: 'COMPATIBLE_API_KEY', path: ['models', 'compatible', 'apiKey'], isSecret: true },
  { name: 'COMPATIBLE_BASE_URL', path: ['models', 'compatible', 'baseUrl'], isSecret: false },
  { name: 'DEEPSEEK_API_KEY', path: ['models', 'providers', 'deepseek', 'apiKey'], isSecret: true },
  { name: 'XAI_API_KEY', path: ['models', 'providers', 'xai', 'apiKey'], isSecret: true },
  { name: 'DASHSCOPE_API_KEY', path: ['models', 'providers', 'qwen', 'apiKey'], isSecret: true },
  { name: 'ZAI_API_KEY', path: ['models', 'providers', 'glm', 'apiKey'], isSecret: true },
  { name: 'MISTRAL_API_KEY', path: ['models', 'providers', 'mistral', 'apiKey'], isSecret: true },
  {
    name: 'OPENROUTER_API_KEY',
    path: ['models', 'providers', 'openrouter', 'apiKey'],
    isSecret: true,
  },
  { name: 'DASHSCOPE_BASE_URL', path: ['models', 'providers', 'qwen', 'baseUrl'], isSecret: false },
  { name: 'OLLAMA_BASE_URL', path: ['models', 'providers', 'ollama', 'baseUrl'], isSecret: false },
  { name: 'VLLM_BASE_URL', path: ['models', 'providers', 'vllm', 'baseUrl'], isSecret: false },
  {
    name: 'LLAMACPP_BASE_URL',
    path: ['models', 'providers', 'llamacpp', 'baseUrl'],
    isSecret: false,
  },
  { name: 'DECKHAND_MODEL', path: ['models', 'model'], isSecret: false },
  { name: 'DECKHAND_STORE', path: ['store', 'url'], isSecret: false },
  { name: 'DECKHAND_WORKSPACE', path: ['workspace', 'folder'], isSecret: false },
  { name: 'PORT', path: ['server', 'port'], isSecret: false, isNumber: true },
  { name: 'HOST', path: ['server', 'host'], isSecret: false },
  { name: 'LOG_LEVEL', path: ['log', 'level'], isSecret: false },
];
