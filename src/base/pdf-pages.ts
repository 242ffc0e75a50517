/** Opening a PDF and reading its pages as text; for threads of their own. */

import { getDocumentProxy, type Pdf } from 'unpdf';

/** Throws the library's error: a PasswordException by name where it is locked. */
export function openPdf(content: Uint8Array): Promise<Pdf> {
  // Its complaints would go to the console.
  return getDocumentProxy(new Uint8Array(content), { verbosity: 0 });
}

/** `--- page 3 ---` and the text of the page, from page 1 on. */
export async function* pageTexts(pdf: Pdf): AsyncGenerator<string> {
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map(({ str = '', hasEOL }) => (hasEOL ? `${str}\n` : str)).join('');
    yield `--- page ${number} ---\n${text.trim()}`;
    page.cleanup();
  }
}
