// Compares the declarations of all entry points with docs/api/js.txt: the names that each entry point exports, and each
// declaration that these names need, with its members. After an intended change: node test/api.test.mjs --update-api
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

const listing = new URL('../../docs/api/js.txt', import.meta.url);
const dist = new URL('../dist/', import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const open = '{([', close = '})]';
const withBody = /^\s*(@opaque\s*)?(export )?(declare )?(abstract )?(class|interface)/;

/** Cuts text behind each semicolon, and behind each brace that ends a body, outside of brackets. */
function* statements(text) {
  let depth = 0, from = 0;
  for (let i = 0; i < text.length; i++) {
    if (open.includes(text[i])) depth++;
    if (close.includes(text[i])) depth--;
    if (depth > 0 || (text[i] !== ';' && !(text[i] === '}' && withBody.test(text.slice(from))))) continue;
    const statement = text.slice(from, i + 1).replace(/;$/, '').replaceAll(/\s+/g, ' ').trim();
    if (statement) yield statement;
    from = i + 1;
  }
}

/** Reads the declarations of modules. replace(text) may change their text. */
class Modules {
  #read = new Map();
  constructor(replace = (text) => text) { this.replace = replace; }

  /** Returns the declarations of a module, and what it imports, exports and exports from others. */
  read(name) {
    if (this.#read.has(name)) return this.#read.get(name);
    const module = { declared: new Map(), imported: new Map(), exported: new Map(), all: [] };
    this.#read.set(name, module);
    const text = this.replace(readFileSync(new URL(`${name}.d.ts`, dist), 'utf8'))
      .replaceAll(/\/\*.*?\*\//gs, (comment) =>
        comment.includes('@internal') ? '@internal ' : comment.includes('members are internal') ? '@opaque ' : '');
    const at = (from) => new URL(from.replace(/\.js$/, ''), new URL(name, dist)).href.slice(dist.href.length);
    for (let statement of statements(text)) {
      if (statement.startsWith('@internal ')) continue;
      const opaque = statement.startsWith('@opaque ');
      if (opaque) statement = statement.slice('@opaque '.length).replace(/\{.*\}$/, '{}');
      const [, word, names, from] = statement.match(/^(import|export)(?: type)? (\*|\{.*\})(?: from '(.*)')?$/) ?? [];
      const [, exported, declared] =
        statement.match(/^(export )?(?:declare )?(?:abstract )?(?:class|interface|function|type|const) ([\w$]+)/) ?? [];
      if (names === '*') {
        module.all.push(at(from));
      } else if (word) {
        for (const one of names.slice(1, -1).split(',').map((one) => one.trim()).filter(Boolean)) {
          const [old, as = old] = one.replace(/^type /, '').split(' as ');
          module[from && word === 'import' ? 'imported' : 'exported'].set(as, [from ? at(from) : name, old]);
        }
      } else {
        assert.ok(declared, `${name}.d.ts: what is "${statement}"?`);
        module.declared.set(declared, [...(module.declared.get(declared) ?? []), statement]);
        if (exported) module.exported.set(declared, [name, declared]);
      }
    }
    return module;
  }

  /** Returns where the exports of a module are declared, by their names. */
  exports(name) {
    const { all, exported } = this.read(name);
    const found = new Map(all.flatMap((from) => [...this.exports(from)]));
    for (const [as, [from, old]] of exported) found.set(as, this.find(from, old));
    return found;
  }

  /** Returns the module in which a name is declared, and its name there, or undefined if it is a global. */
  find(name, word) {
    const { declared, imported, exported, all } = this.read(name);
    if (declared.has(word)) return [name, word];
    const to = imported.get(word) ?? exported.get(word);
    if (to && to[0] !== name) return this.find(...to);
    return all.map((from) => this.find(from, word)).find(Boolean);
  }

  /** Returns the sorted lines of the listing. */
  lines() {
    const lines = new Set(), todo = [];
    for (const [path, to] of Object.entries(exports)) {
      if (!to.default) continue; // package.json
      const pattern = to.default.types.slice('./dist/'.length, -'.d.ts'.length), [folder] = pattern.split('*');
      const files = folder === pattern ? [] : readdirSync(new URL(folder, dist)).filter((file) => file.endsWith('.d.ts'));
      const modules = folder === pattern ? [pattern] : files.map((file) => folder + file.slice(0, -'.d.ts'.length));
      for (const module of modules) {
        const entry = path.replace(/\*$/, module.slice(folder.length)).replace(/^\./, 'bloomery');
        for (const [name, found] of this.exports(module)) {
          assert.ok(found, `${entry}: where is ${name} declared?`);
          lines.add(`${entry} exports ${name}`);
          todo.push(found);
        }
      }
    }

    const seen = new Set();
    for (const [module, name] of todo) {
      if (seen.has(`${module} ${name}`)) continue;
      seen.add(`${module} ${name}`);
      for (const statement of this.read(module).declared.get(name)) {
        const plain = statement.replace(/^(export )?(declare )?/, '');
        const [, head, body] = plain.match(/^((?:abstract )?(?:class|interface) [^{]*?) ?\{(.*)\}$/) ?? [, plain, ''];
        const members = [...statements(body)].filter((member) => !/^(@internal|#private|private )/.test(member));
        lines.add(`${module}: ${head}`);
        for (const member of members) lines.add(`${module}: ${name} has ${member}`);
        for (const word of [head, ...members].join(' ').match(/[A-Za-z_$][\w$]*/g)) {
          const found = this.find(module, word);
          if (found) todo.push(found);
        }
      }
    }
    return [...lines].sort();
  }
}

/** Returns what lines lack of the listing, and what they add to it. */
function changes(lines) {
  const listed = readFileSync(listing, 'utf8').trimEnd().split('\n');
  return [
    ...listed.filter((line) => !lines.includes(line)).map((line) => `gone or changed: ${line}`),
    ...lines.filter((line) => !listed.includes(line)).map((line) => `new: ${line}`),
  ].join('\n');
}

if (process.argv.includes('--update-api')) writeFileSync(listing, `${new Modules().lines().join('\n')}\n`);

test('the declarations are as listed', () => {
  assert.equal(changes(new Modules().lines()), '', 'docs/api/js.txt differs. From 1.0.0 on, what is listed is frozen '
    + '(docs: stability). If the change is intended, run\n  node test/api.test.mjs --update-api');
});

test('the listing shows a changed member, a changed type and a changed name', () => {
  for (const [old, changed, report] of [
    ['count(key: Key): number;', 'count(key: Key): bigint;', 'new: filter: Filter has count(key: Key): bigint'],
    ["'standard' | 'blocked'", "'standard' | 'block'", 'gone or changed: build: type BuildSpec = '],
    ['function patch(', 'function apply(', 'gone or changed: bloomery/delta exports patch'],
  ]) {
    const broken = changes(new Modules((text) => text.replaceAll(old, changed)).lines());
    assert.ok(broken.includes(report), `${report}: got ${broken}`);
  }
});
