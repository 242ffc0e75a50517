/** Host patterns of the settings: `docs.example.org`, or `*.example.org` for all below it. */

export function hostMatches(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase();
  const given = host.toLowerCase().replace(/\.$/u, '');
  return wanted.startsWith('*.') ? given.endsWith(wanted.slice(1)) : given === wanted;
}
