/** What an operator pastes at the platforms: Slack's app manifest, Discord's invite address. */

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BotError } from '../base/errors.ts';
import { readEnvironment } from '../config/environment.ts';
import { inviteUrlOf } from './adapters.ts';

/** Throws config_invalid when it is not said for which platform, or the application id is missing. */
export async function manifestText(folder: string, args: readonly string[]): Promise<string> {
  const [platform, id] = args;
  if (platform === 'slack') {
    return readFile(path.join(folder, 'config/slack-manifest.yaml'), 'utf8');
  }
  if (platform !== 'discord') {
    throw new BotError(
      'config_invalid',
      'Say which: deckhand manifest slack, or deckhand manifest discord.',
    );
  }
  const applicationId = id ?? applicationIdOf(readEnvironment(folder)['DISCORD_TOKEN']);
  if (applicationId === undefined) {
    throw new BotError(
      'config_invalid',
      'Set DISCORD_TOKEN, or give the application id: deckhand manifest discord 123456789012345678.',
    );
  }
  return `${inviteUrlOf(applicationId)}\n`;
}

/** The first part of a bot token is the application's id in base64. */
function applicationIdOf(token: string | undefined): string | undefined {
  const id = Buffer.from(token?.split('.')[0] ?? '', 'base64').toString('latin1');
  return /^\d{15,20}$/u.test(id) ? id : undefined;
}
