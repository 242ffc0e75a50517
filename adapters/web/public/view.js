/** Elements of messages and their controls. Knows nothing of the server. */

import { elementOf } from './markdown.js';

function make(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function button(label, onClick, className = '') {
  const made = make('button', className, label);
  made.type = 'button';
  made.addEventListener('click', onClick);
  return made;
}

const timeFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

function timeOf(at) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const shown = isToday
    ? timeFormat.format(date)
    : `${dayFormat.format(date)}, ${timeFormat.format(date)}`;
  const made = make('time', '', shown);
  made.dateTime = date.toISOString();
  return made;
}

/** Plain text in which `code` spans are drawn as code. */
function activity(text) {
  const line = make('p', 'activity');
  for (const [index, piece] of text.split('`').entries()) {
    line.append(index % 2 === 1 ? make('code', '', piece) : piece);
  }
  return line;
}

function choice(block, actions) {
  const boxes = block.options.map(({ value, label }) => {
    const box = Object.assign(document.createElement('input'), { type: 'checkbox', value });
    return { box, row: make('label', 'option', box, ` ${label}`) };
  });
  const send = button(
    block.submitLabel,
    () => {
      const values = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
      actions.press(block.controlId, values);
    },
    'primary',
  );
  return make('div', 'choice', ...boxes.map(({ row }) => row), send);
}

/** Two thumbs; what one says is told to screen readers. */
function feedback({ controlId, thumbs }, actions) {
  const thumb = ({ value, label, meaning }) => {
    const made = button(label, () => actions.press(controlId, [value], label), 'plain');
    made.title = meaning;
    made.setAttribute('aria-label', meaning);
    return made;
  };
  return make('div', 'buttons thumbs', ...thumbs.map(thumb));
}

function blockElement(block, message, actions) {
  switch (block.kind) {
    case 'markdown':
      return make(
        'div',
        'text',
        elementOf(
          block.tree,
          message.mentionable.map(({ name }) => name),
        ),
      );
    case 'notice':
      return make('div', 'notice', elementOf(block.tree));
    case 'activity':
      return activity(block.text);
    case 'buttons':
      return make(
        'div',
        'buttons',
        ...block.buttons.map(({ controlId, label, style }) =>
          button(label, () => actions.press(controlId, [], label), style),
        ),
      );
    case 'choice':
      return choice(block, actions);
    case 'feedback':
      return feedback(block, actions);
    default:
      return make('div', '');
  }
}

function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A link that saves the file; its contents go with the bot's process, its name stays. */
function fileElement({ id, name, bytes, comment, isKept }) {
  const line = comment === '' ? [] : [make('span', 'comment', comment)];
  const label = `${name} (${sizeOf(bytes)})`;
  if (!isKept) return make('p', 'file gone', `${label}, not kept any more`, ...line);
  const link = make('a', '', label);
  link.href = `/files/${encodeURIComponent(id)}/${encodeURIComponent(name)}`;
  link.download = name;
  return make('p', 'file', link, ...line);
}

/** The bot's emoji, and those of the person, which a click takes off again. */
function reactionRow(message, actions) {
  const { reactions, given } = message;
  if (reactions.length + given.length === 0) return [];
  const own = given.map((emoji) => {
    const made = button(emoji, () => actions.react(message, emoji, false), 'own');
    made.title = 'Take it off';
    return made;
  });
  return [make('div', 'reactions', ...reactions.map((emoji) => make('span', '', emoji)), ...own)];
}

const stopEmoji = '❌';

function tools(message, actions) {
  if (message.isPrivate) return [];
  const react = button(
    stopEmoji,
    () => actions.react(message, stopEmoji, !message.given.includes(stopEmoji)),
    'react',
  );
  react.title = 'React: stops what runs';
  react.setAttribute('aria-label', `React with ${stopEmoji}`);
  const own =
    message.author === 'person'
      ? [
          button('Edit', () => actions.edit(message)),
          button('Delete', () => actions.remove(message)),
        ]
      : [];
  return [make('span', 'tools', react, ...own)];
}

/**
 * The element of a message. `actions`: press(controlId, values, label), edit(message),
 * remove(message), react(message, emoji, on), open(message). `replies`: undefined inside a thread.
 */
export function messageElement(message, names, actions, replies) {
  const isBot = message.author === 'bot';
  const marks = [
    ...(message.isEdited ? [make('span', 'mark', '(edited)')] : []),
    ...(message.isPrivate ? [make('span', 'mark', 'only you see this')] : []),
    ...(message.isWaiting ? [make('span', 'mark waiting', '⏳ noted')] : []),
  ];
  const head = make(
    'div',
    'head',
    make('b', '', isBot ? names.bot : names.person),
    timeOf(message.at),
    ...marks,
    ...tools(message, actions),
  );
  const body = [
    ...message.blocks.map((block) => blockElement(block, message, actions)),
    ...message.files.map(fileElement),
    ...reactionRow(message, actions),
  ];
  const item = make(
    'li',
    `message ${isBot ? 'bot' : 'person'}${message.isPrivate ? ' private' : ''}`,
    make('span', 'face', isBot ? '⚓' : names.person.slice(0, 1)),
    make('div', 'body', head, ...body),
  );
  item.dataset.id = message.id;
  if (replies !== undefined) {
    const label = replies === 0 ? 'Reply' : replies === 1 ? '1 reply' : `${replies} replies`;
    item.querySelector('.body').append(button(label, () => actions.open(message), 'replies'));
  }
  return item;
}
