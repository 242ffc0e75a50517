/** The parts of this package that are used; its own types need those of browsers. */

declare module 'unpdf' {
  export interface Pdf {
    readonly numPages: number;
  }
  export function getDocumentProxy(
    bytes: Uint8Array,
    options?: { /** 0: no complaints on the console. */ readonly verbosity: number },
  ): Promise<Pdf>;
  export function extractText(
    pdf: Pdf,
    options: { readonly mergePages: false },
  ): Promise<{ readonly totalPages: number; readonly text: readonly string[] }>;
}
