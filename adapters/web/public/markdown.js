/**
 * Builds elements from a Markdown tree (mdast). Everything becomes text nodes and known elements:
 * what a model writes is never HTML.
 */

const simple = {
  root: 'div',
  paragraph: 'p',
  emphasis: 'em',
  strong: 'strong',
  delete: 'del',
  blockquote: 'blockquote',
  listItem: 'li',
  break: 'br',
  thematicBreak: 'hr',
};

/** Addresses that a link may have. */
function safeAddress(url) {
  return /^(https?:|mailto:)/iu.test(url) ? url : null;
}

function element(name, children, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function link(url, children) {
  const href = safeAddress(url);
  if (!href) return element('span', children);
  return element('a', children, { href, target: '_blank', rel: 'noopener noreferrer' });
}

function table(node, build) {
  const [head, ...rows] = node.children;
  const row = (cells, name) =>
    element(
      'tr',
      cells.map((cell, index) => {
        const made = element(name, cell.children.map(build));
        const align = node.align?.[index];
        if (align) made.style.textAlign = align;
        return made;
      }),
    );
  const body = rows.map((one) => row(one.children, 'td'));
  const made = element('table', [
    element('thead', [row(head.children, 'th')]),
    element('tbody', body),
  ]);
  return element('div', [made], { className: 'table' });
}

function code(node) {
  const block = element('pre', [element('code', [node.value])]);
  if (node.lang) block.dataset.lang = node.lang;
  return block;
}

function listItem(node, build) {
  const children = node.children.map(build);
  if (typeof node.checked === 'boolean') {
    children.unshift(
      element('input', [], { type: 'checkbox', checked: node.checked, disabled: true }),
    );
  }
  return element('li', children);
}

/** An element or text for a node of the tree. `mentionNames` are marked where `@Name` stands. */
export function elementOf(node, mentionNames = []) {
  const build = (child) => elementOf(child, mentionNames);
  const children = () => (node.children ?? []).map(build);
  switch (node.type) {
    case 'text':
      return withMentions(node.value, mentionNames);
    case 'html':
      return document.createTextNode(node.value);
    case 'inlineCode':
      return element('code', [node.value]);
    case 'code':
      return code(node);
    case 'heading':
      return element(`h${Math.min(node.depth + 2, 6)}`, children());
    case 'list':
      return element(
        node.ordered ? 'ol' : 'ul',
        children(),
        node.ordered && node.start ? { start: node.start } : {},
      );
    case 'listItem':
      return listItem(node, build);
    case 'link':
      return link(node.url, children());
    case 'image':
      return link(node.url, [node.alt || node.url]);
    case 'table':
      return table(node, build);
    case 'footnoteReference':
      return element('sup', [`[${node.label ?? node.identifier}]`]);
    case 'footnoteDefinition':
      return element(
        'div',
        [element('sup', [`[${node.label ?? node.identifier}] `]), ...children()],
        { className: 'footnote' },
      );
    case 'linkReference':
      return element('span', children());
    case 'imageReference':
      return document.createTextNode(node.alt ?? '');
    case 'definition':
      return document.createTextNode('');
    default:
      return element(simple[node.type] ?? 'span', children());
  }
}

function withMentions(text, names) {
  const made = document.createElement('span');
  let rest = text;
  while (rest !== '') {
    const found = names
      .map((name) => ({ name, at: rest.indexOf(`@${name}`) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at || b.name.length - a.name.length)[0];
    if (!found) break;
    made.append(
      rest.slice(0, found.at),
      element('span', [`@${found.name}`], { className: 'mention' }),
    );
    rest = rest.slice(found.at + found.name.length + 1);
  }
  made.append(rest);
  return made;
}
