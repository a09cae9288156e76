// The domains that js/example finds in what people type.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domainOf } from '../example/domain.js';

const found = {
  'alex@yopmail.com': ['yopmail.com'],
  'Sam Taylor <sam@Gmail.COM>,': ['gmail.com'],
  ' yopmail.com. ': ['yopmail.com'],
  'a@b@example.co.uk': ['example.co.uk'],
  'x@instágram.com': ['instágram.com', 'xn--instgram-cza.com'],
  'x@xn--instgram-cza.com': ['xn--instgram-cza.com'],
  '日本.jp': ['日本.jp', 'xn--wgv71a.jp'],
};

const none = [
  '', ' ', '@', 'yopmail', 'alex@', '1.2.3.4', 'x@a..com', 'x@-a.com', 'x@a-.com', 'x@exa_mple.com', 'a b.com',
  'http://a.com', 'a%41.com', 'é:80.com', 'é/x.com', 'x@"<b>.com', '\ud800.com', `x@${'a'.repeat(64)}.com`,
  `x@${'a.'.repeat(130)}com`, `${'x'.repeat(1000)}@a.com`,
];

for (const [text, keys] of Object.entries(found)) {
  test(text, () => assert.deepEqual(domainOf(text), { domain: keys[0], keys }));
}

test('no domain', () => {
  for (const text of none) assert.equal(domainOf(text), undefined, JSON.stringify(text));
});
