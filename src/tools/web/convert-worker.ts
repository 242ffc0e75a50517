/** In a thread of its own: turns a page's HTML into readable Markdown, a PDF into its text. */

import { Readability } from '@mozilla/readability';
import { type PageDocument, parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { gfm } from 'turndown-plugin-gfm';
import { z } from 'zod';
import { openPdf, pageTexts } from '../../base/pdf-pages.ts';
import { answerTasks } from '../../base/workers/answer.ts';

const taskSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('html'), url: z.string(), html: z.string() }),
  z.object({ kind: z.literal('pdf'), url: z.string(), bytes: z.instanceof(Uint8Array) }),
]);

interface Converted {
  readonly title: string;
  readonly text: string;
}

/** Below this the article is taken for a navigation page, and the whole page is shown. */
const leastArticleChars = 200;

function htmlText(url: string, html: string): Converted {
  // A fragment is no document to the parser.
  const isWhole = /<(?:html|body)[\s>]/iu.test(html);
  const { document } = parseHTML(isWhole ? html : `<html><body>${html}</body></html>`);
  for (const element of document.querySelectorAll(
    'script, style, noscript, template, svg, iframe',
  )) {
    element.remove();
  }
  makeAbsolute(document, url);
  const title = document.title.trim();
  const whole = document.body?.innerHTML ?? html;
  const article = new Readability(document, { keepClasses: false }).parse();
  const isArticle = (article?.textContent ?? '').trim().length >= leastArticleChars;
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
  turndown.use(gfm);
  const markdown = turndown.turndown(isArticle && article?.content ? article.content : whole);
  return {
    title: article?.title?.trim() || title,
    text: markdown.replace(/\n{3,}/gu, '\n\n').trim(),
  };
}

/** Links and images work from anywhere. */
function makeAbsolute(document: PageDocument, base: string): void {
  for (const [selector, name] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const value = element.getAttribute(name) ?? '';
      if (URL.canParse(value, base)) element.setAttribute(name, new URL(value, base).href);
    }
  }
}

async function pdfText(bytes: Uint8Array): Promise<Converted> {
  const pages: string[] = [];
  for await (const page of pageTexts(await openPdf(bytes))) pages.push(page);
  return { title: '', text: pages.join('\n\n') };
}

answerTasks((given) => {
  const task = taskSchema.parse(given);
  return task.kind === 'html' ? htmlText(task.url, task.html) : pdfText(task.bytes);
});
