/** A message as a person sees it, and who is notified by it. */

import { rowsOf } from './checks.ts';
import type { Json, Model, StoredMessage } from './model.ts';

/** Names for tokens, small lines after `▸`, escapes taken off, controls in brackets. */
export function drawnText(
  model: Model,
  message: { readonly content: string; readonly components: readonly Json[] },
): string {
  const rows = rowsOf(message.components).map((row) =>
    row.components
      .map((control) =>
        control.type === 2
          ? `[${control.label}]`
          : control.options.map((option) => `☐ ${option.label}`).join(' '),
      )
      .join(' '),
  );
  return [shown(model, message.content), ...rows].filter((part) => part !== '').join('\n');
}

function shown(model: Model, content: string): string {
  return content
    .replaceAll('\u200B', '')
    .split(/(```[\s\S]*?```|`[^`\n]+`)/u)
    .map((piece) => (piece.startsWith('`') ? piece : shownProse(model, piece)))
    .join('');
}

function shownProse(model: Model, prose: string): string {
  return prose
    .replace(/^-# /gmu, '▸ ')
    .replace(/<@!?(\d+)>/gu, (_found, id: string) => `@${nameOf(model, id)}`)
    .replace(/\[([^\]]*)\]\(<?https?:[^)>]*>?\)/gu, '$1')
    .replace(/\\(?=[^\p{L}\p{N}\s])/gu, '');
}

export function nameOf(model: Model, userId: string): string {
  const user = model.users.get(userId);
  return user?.globalName ?? user?.username ?? userId;
}

/** User ids, `&role` ids and `everyone`, by Discord's rules for allowed_mentions. */
export function notifiedBy(model: Model, message: StoredMessage): string[] {
  const prose = message.content.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/gu, '');
  const users = [...prose.matchAll(/<@!?(\d+)>/gu)].map(([, id = '']) => id);
  const roles = [...prose.matchAll(/<@&(\d+)>/gu)].map(([, id = '']) => id);
  const isBroadcast = /@(?:everyone|here)/u.test(prose);
  const allowed = message.allowedMentions;
  const listed = (name: string): readonly unknown[] => {
    const list = allowed?.[name];
    return Array.isArray(list) ? list : [];
  };
  const parses = (kind: string): boolean => allowed === null || listed('parse').includes(kind);
  const answered = model.messages.find((one) => one.id === message.replyTo)?.authorId;
  return [
    ...new Set([
      ...users.filter((id) => parses('users') || listed('users').includes(id)),
      ...roles
        .filter((id) => parses('roles') || listed('roles').includes(id))
        .map((id) => `&${id}`),
      ...(isBroadcast && parses('everyone') ? ['everyone'] : []),
      ...(answered !== undefined && allowed?.['replied_user'] === true ? [answered] : []),
    ]),
  ];
}
