/** The parts of these packages that are used here; their own types need those of browsers. */

declare module 'linkedom' {
  export interface PageElement {
    readonly innerHTML: string;
    getAttribute(name: string): string | null;
    setAttribute(name: string, value: string): void;
    remove(): void;
  }
  export interface PageDocument {
    readonly title: string;
    readonly body: PageElement | null;
    querySelectorAll(selector: string): Iterable<PageElement>;
  }
  export function parseHTML(html: string): { readonly document: PageDocument };
}

declare module '@mozilla/readability' {
  import type { PageDocument } from 'linkedom';

  export class Readability {
    constructor(document: PageDocument, options?: { readonly keepClasses?: boolean });
    parse(): {
      readonly title?: string | null;
      readonly content?: string | null;
      readonly textContent?: string | null;
    } | null;
  }
}
