/**
 * Which addresses a fetch may connect to (rule 16): public ones. Private, loopback, link-local,
 * carrier-grade, reserved and mapped ones are refused, and those by which clouds tell secrets.
 * Ranges: IANA's special-purpose registries for IPv4 and IPv6, as ipaddr.js knows them.
 */

import ipaddr from 'ipaddr.js';

/** Public by their range, but answered by the cloud a machine stands in. */
const metadataAddresses = new Set(['168.63.129.16', '192.0.0.192']);

/** True for an address of the public internet; false for everything that is none, names included. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || metadataAddresses.has(address)) return false;
  return ipaddr.parse(address).range() === 'unicast';
}
