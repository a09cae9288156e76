// The certificates of the page: issuers, serial numbers and which of them are revoked. They are made up, and always the
// same. In node it writes the lists that revoked.exact was built from:
//
//   node list.js all > all.csv
//   node list.js revoked > revoked.csv
//   bloomery exact build -o revoked.exact --members revoked.csv --universe all.csv --input-format csv --column serial \
//     --partition-column issuer

/** Issuers: how many certificates they have issued, and how many of 10,000 are revoked. */
export const issuers = [
  { name: 'Alder Web CA', certificates: 60_000, revoked: 25 },
  { name: 'Birch Web CA', certificates: 30_000, revoked: 120 },
  { name: 'Cedar Mail CA', certificates: 20_000, revoked: 600 },
  { name: 'Dogwood Device CA', certificates: 12_000, revoked: 2200 },
  { name: 'Elm Test CA', certificates: 4000, revoked: 5500 },
  { name: 'Fir Root CA', certificates: 400, revoked: 0 },
  { name: 'Gorse Web CA', certificates: 1600, revoked: 10_000 },
];

/** Mixes 32 bits: different numbers stay different. */
function mix(x) {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Returns certificate i of an issuer, given by its index: its serial number, and whether it is revoked. */
export function certificate(issuer, i) {
  const high = mix(2 ** 24 * (issuer + 1) + i), low = mix(high ^ 0x9e3779b9);
  const serial = [high, low].map((v) => v.toString(16).padStart(8, '0')).join('');
  return { serial, revoked: mix(low + 1) % 10_000 < issuers[issuer].revoked };
}

if (globalThis.process?.argv[1]?.endsWith('list.js')) {
  const only = process.argv[2] === 'revoked', lines = ['issuer,serial'];
  issuers.forEach(({ name, certificates }, issuer) => {
    for (let i = 0; i < certificates; i++) {
      const { serial, revoked } = certificate(issuer, i);
      if (!only || revoked) lines.push(`${name},${serial}`);
    }
  });
  console.log(lines.join('\n'));
}
