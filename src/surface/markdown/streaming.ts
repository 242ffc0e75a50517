export function closedForNow(block: string): string {
  return block;
}
export function settledLength(block: string): number {
  return block.length;
}
