/** The page: state, stream of changes, and what the person does. Drawing is batched per frame. */

import { messageElement } from './view.js';

const find = (id) => document.getElementById(id);
const state = {
  facts: { botName: 'Deckhand', handle: 'deckhand', commands: [] },
  channels: [],
  messages: new Map(),
  working: new Set(),
  channel: null,
  thread: null,
};
/** Ids whose elements must be drawn anew at the next frame. */
const stale = new Set();
let frame = 0;

// ---- talking to the server

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => null);
  if (response?.ok) return true;
  const problem = await response?.json().catch(() => null);
  showTrouble(problem?.problem ?? 'The bot cannot be reached. It may be restarting.');
  return false;
}

function showTrouble(text) {
  const line = find('trouble');
  line.textContent = text;
  line.hidden = false;
  clearTimeout(showTrouble.timer);
  showTrouble.timer = setTimeout(() => {
    line.hidden = true;
  }, 6000);
}

async function load() {
  const response = await fetch('/api/state', { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`state: ${response.status}`);
  const { channels, messages, working, ...facts } = await response.json();
  state.facts = facts;
  state.channels = channels;
  state.messages = new Map(messages.map((message) => [message.id, message]));
  state.working = new Set(working);
  const wanted = new URLSearchParams(location.hash.slice(1));
  const isThere = (id) => channels.some((channel) => channel.id === id);
  state.channel = isThere(wanted.get('c')) ? wanted.get('c') : (channels[0]?.id ?? null);
  state.thread = state.messages.has(wanted.get('t')) ? wanted.get('t') : null;
  drawAll();
}

/** After each (re)connection the state is loaded anew: nothing said meanwhile is missed. */
function listen() {
  const source = new EventSource('/api/events');
  source.addEventListener('open', () => {
    load().catch(() => showTrouble('The page could not be loaded. Trying again.'));
  });
  source.addEventListener('message', (event) => apply(JSON.parse(event.data)));
}

function apply(change) {
  switch (change.kind) {
    case 'channel':
      if (!state.channels.some(({ id }) => id === change.channel.id))
        state.channels.push(change.channel);
      drawChannels();
      break;
    case 'message':
      state.messages.set(change.message.id, change.message);
      markStale(change.message.id);
      if (change.message.thread) markStale(change.message.thread);
      break;
    case 'removed':
      state.messages.delete(change.id);
      markStale(change.id);
      break;
    case 'status':
      if (change.isWorking) state.working.add(change.thread);
      else state.working.delete(change.thread);
      drawWorking();
      break;
    default:
  }
}

// ---- drawing

function markStale(id) {
  stale.add(id);
  if (frame === 0) frame = requestAnimationFrame(drawStale);
}

function drawStale() {
  frame = 0;
  const ids = [...stale];
  stale.clear();
  for (const id of ids) {
    place(find('posts'), id, isInChannel(id));
    place(find('replies'), id, isInThread(id));
  }
}

function isInChannel(id) {
  const message = state.messages.get(id);
  return message?.channel === state.channel && message.thread === null;
}

function isInThread(id) {
  const message = state.messages.get(id);
  return (
    state.thread !== null &&
    message !== undefined &&
    (message.thread === state.thread || id === state.thread)
  );
}

/** Puts the message's element into a list, replaces it, or takes it away. */
function place(list, id, belongs) {
  const old = list.querySelector(`[data-id="${CSS.escape(id)}"]`);
  if (!belongs) {
    old?.remove();
    return;
  }
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  const made = build(state.messages.get(id), list.id === 'posts');
  if (old) old.replaceWith(made);
  else list.append(made);
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

function build(message, isInChannelList) {
  const replies = [...state.messages.values()].filter(({ thread }) => thread === message.id).length;
  const actions = {
    press: (controlId, values, label) => press(message, controlId, values, label),
    edit: (one) => startEdit(one),
    remove: (one) => post('/api/removals', { id: one.id }),
    react: (one, emoji, on) => post('/api/reactions', { id: one.id, emoji, on }),
    open: (one) => openThread(one.id),
  };
  const names = { bot: state.facts.botName, person: 'You' };
  return messageElement(message, names, actions, isInChannelList ? replies : undefined);
}

function drawAll() {
  find('brand').textContent = state.facts.botName;
  document.title = state.facts.botName;
  drawChannels();
  drawList(find('posts'), [...state.messages.keys()].filter(isInChannel));
  drawThread();
}

function drawChannels() {
  find('channels').replaceChildren(
    ...state.channels.map(({ id, name }) => {
      const item = document.createElement('li');
      const link = Object.assign(document.createElement('button'), {
        type: 'button',
        textContent: `# ${name}`,
      });
      if (id === state.channel) link.setAttribute('aria-current', 'true');
      link.addEventListener('click', () => openChannel(id));
      item.append(link);
      return item;
    }),
  );
  const name = state.channels.find(({ id }) => id === state.channel)?.name ?? '';
  find('channel-name').textContent = `# ${name}`;
  composerOf('channel-composer').placeholder = `Try @${state.facts.handle} hello`;
}

function drawList(list, ids) {
  list.replaceChildren(...ids.map((id) => build(state.messages.get(id), list.id === 'posts')));
  list.scrollTop = list.scrollHeight;
}

function drawThread() {
  find('thread').hidden = state.thread === null;
  document.body.classList.toggle('has-thread', state.thread !== null);
  if (state.thread === null) return;
  drawList(find('replies'), [...state.messages.keys()].filter(isInThread));
  composerOf('thread-composer').placeholder = 'Reply, or !help';
  drawWorking();
}

function drawWorking() {
  const line = find('working');
  line.hidden = !state.working.has(state.thread);
  line.textContent = `${state.facts.botName} is working…`;
}

// ---- what the person does

function remember() {
  const where = new URLSearchParams({
    c: state.channel ?? '',
    ...(state.thread ? { t: state.thread } : {}),
  });
  history.replaceState(null, '', `#${where}`);
}

function openChannel(id) {
  state.channel = id;
  state.thread = null;
  remember();
  drawAll();
  composerOf('channel-composer').focus();
}

function openThread(id) {
  state.thread = id;
  remember();
  drawThread();
  composerOf('thread-composer').focus();
}

function closeThread() {
  state.thread = null;
  remember();
  drawThread();
  composerOf('channel-composer').focus();
}

function press(message, controlId, values, label) {
  if (!controlId.startsWith('form.')) {
    post('/api/presses', { messageId: message.id, controlId, values });
    return;
  }
  const dialog = find('form-dialog');
  find('form-title').textContent = label.replace(/…$/u, '');
  find('form-text').value = '';
  dialog.returnValue = '';
  dialog.addEventListener(
    'close',
    () => {
      const text = find('form-text').value.trim();
      if (dialog.returnValue === 'send' && text !== '') {
        post('/api/presses', { messageId: message.id, controlId, text });
      }
    },
    { once: true },
  );
  dialog.showModal();
  find('form-text').focus();
}

function composerOf(id) {
  return find(id).elements.namedItem('text');
}

/** The message that a composer edits instead of sending a new one. */
const editing = new Map();

function startEdit(message) {
  const id =
    message.thread === null && state.thread !== message.id ? 'channel-composer' : 'thread-composer';
  const field = composerOf(id);
  editing.set(id, message.id);
  field.value = message.source ?? '';
  find(id).classList.add('editing');
  field.focus();
}

function stopEdit(id) {
  editing.delete(id);
  find(id).classList.remove('editing');
}

async function send(id) {
  const field = composerOf(id);
  const text = field.value.trim();
  if (text === '') return;
  const edited = editing.get(id);
  const isThread = id === 'thread-composer';
  const isSent = edited
    ? await post('/api/edits', { id: edited, text })
    : await post('/api/messages', {
        channel: state.channel,
        thread: isThread ? state.thread : null,
        text,
      });
  // What was not taken stays in the field.
  if (!isSent) return;
  field.value = '';
  fitHeight(field);
  stopEdit(id);
  if (!isThread && !edited && text.toLowerCase().includes(`@${state.facts.handle}`))
    openNewest(text);
}

/** A mention opens its thread, where the answer will be. */
function openNewest(text) {
  const own = [...state.messages.values()].filter(
    (message) =>
      message.channel === state.channel && message.thread === null && message.source === text,
  );
  const newest = own.at(-1);
  if (newest) openThread(newest.id);
  else requestAnimationFrame(() => openNewest(text));
}

function fitHeight(field) {
  field.style.height = 'auto';
  field.style.height = `${Math.min(field.scrollHeight, 240)}px`;
}

function lastOwn(isThread) {
  return [...state.messages.values()].findLast(
    (message) =>
      message.author === 'person' && (isThread ? isInThread(message.id) : isInChannel(message.id)),
  );
}

for (const id of ['channel-composer', 'thread-composer']) {
  const field = composerOf(id);
  find(id).addEventListener('submit', (event) => {
    event.preventDefault();
    send(id);
  });
  field.addEventListener('input', () => fitHeight(field));
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send(id);
    }
    if (event.key === 'Escape' && editing.has(id)) {
      event.stopPropagation();
      field.value = '';
      stopEdit(id);
    }
    if (event.key === 'ArrowUp' && field.value === '') {
      const last = lastOwn(id === 'thread-composer');
      if (last) {
        event.preventDefault();
        startEdit(last);
      }
    }
  });
}

find('close-thread').addEventListener('click', closeThread);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && state.thread !== null && !find('form-dialog').open) closeThread();
});
find('new-channel').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = event.target.elements.namedItem('name');
  post('/api/channels', { name: field.value }).then((isMade) => {
    if (isMade) field.value = '';
  });
});
listen();
