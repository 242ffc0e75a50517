/** The parts of this package that are used; its own types need those of browsers. */

declare module 'unpdf' {
  export interface PdfPage {
    getTextContent(): Promise<{
      readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[];
    }>;
    cleanup(): void;
  }
  export interface Pdf {
    readonly numPages: number;
    /** From 1. */
    getPage(number: number): Promise<PdfPage>;
  }
  export function getDocumentProxy(
    bytes: Uint8Array,
    options?: { /** 0: no complaints on the console. */ readonly verbosity: number },
  ): Promise<Pdf>;
}
