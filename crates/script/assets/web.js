// URL, text coding and structuredClone: compiled when a script touches one of them. The work is done by the host's
// primitives; this gives them the shape that scripts know.
(function (native) {
'use strict';

const symbolIterator = Symbol.iterator;

class URLSearchParams {
  #pairs = [];
  #changed = undefined;
  constructor(init = '') {
    if (typeof init === 'object' && init !== null) {
      if (typeof init[symbolIterator] === 'function') {
        for (const pair of init) {
          const [name, value, ...rest] = pair;
          if (value === undefined || rest.length > 0) throw new TypeError('each pair must be a name and a value');
          this.#pairs.push([wellFormed(name), wellFormed(value)]);
        }
      } else {
        for (const name of Object.keys(init)) this.#pairs.push([wellFormed(name), wellFormed(init[name])]);
      }
    } else {
      const text = wellFormed(init);
      this.#pairs = JSON.parse(native.queryParse(text.startsWith('?') ? text.slice(1) : text));
    }
  }
  static _of(query, changed) {
    const made = new URLSearchParams(query);
    made.#changed = changed;
    return made;
  }
  _replace(query) { this.#pairs = JSON.parse(native.queryParse(query)); }
  #update() { if (this.#changed) this.#changed(this.toString()); }
  get size() { return this.#pairs.length; }
  append(name, value) { this.#pairs.push([wellFormed(name), wellFormed(value)]); this.#update(); }
  delete(name, value) {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
    this.#update();
  }
  get(name) { return this.#pairs.find((pair) => pair[0] === String(name))?.[1] ?? null; }
  getAll(name) { return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]); }
  has(name, value) {
    return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
  }
  set(name, value) {
    const index = this.#pairs.findIndex((pair) => pair[0] === String(name));
    if (index < 0) {
      this.#pairs.push([wellFormed(name), wellFormed(value)]);
    } else {
      this.#pairs[index] = [this.#pairs[index][0], wellFormed(value)];
      this.#pairs = this.#pairs.filter((pair, at) => at <= index || pair[0] !== String(name));
    }
    this.#update();
  }
  sort() { this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#update(); }
  forEach(fn, self) { for (const [name, value] of this.#pairs) fn.call(self, value, name, this); }
  *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
  *keys() { for (const pair of this.#pairs) yield pair[0]; }
  *values() { for (const pair of this.#pairs) yield pair[1]; }
  [symbolIterator]() { return this.entries(); }
  toString() { return native.queryWrite(JSON.stringify(this.#pairs)); }
  get [Symbol.toStringTag]() { return 'URLSearchParams'; }
}

const wellFormed = (value) => String(value).toWellFormed();
// Kept from scripts: how a URL and its parameters know of each other.
const linkParams = URLSearchParams._of, replaceParams = URLSearchParams.prototype._replace;
delete URLSearchParams._of;
delete URLSearchParams.prototype._replace;

class URL {
  #parts;
  #params;
  constructor(url, base) {
    const parts = native.urlParse(wellFormed(url), base === undefined ? undefined : wellFormed(base));
    if (parts === undefined) throw new TypeError('Invalid URL');
    this.#parts = JSON.parse(parts);
  }
  static canParse(url, base) {
    return native.urlParse(wellFormed(url), base === undefined ? undefined : wellFormed(base)) !== undefined;
  }
  static parse(url, base) { return URL.canParse(url, base) ? new URL(url, base) : null; }
  #set(part, value) {
    const parts = native.urlSet(this.#parts.href, part, wellFormed(value));
    if (parts !== undefined) this.#parts = JSON.parse(parts);
  }
  get href() { return this.#parts.href; }
  set href(value) {
    const parts = native.urlParse(wellFormed(value), undefined);
    if (parts === undefined) throw new TypeError('Invalid URL');
    this.#parts = JSON.parse(parts);
    if (this.#params) replaceParams.call(this.#params, this.#parts.search.slice(1));
  }
  get origin() { return this.#parts.origin; }
  get protocol() { return this.#parts.protocol; }
  set protocol(value) { this.#set('protocol', value); }
  get username() { return this.#parts.username; }
  set username(value) { this.#set('username', value); }
  get password() { return this.#parts.password; }
  set password(value) { this.#set('password', value); }
  get host() { return this.#parts.host; }
  set host(value) { this.#set('host', value); }
  get hostname() { return this.#parts.hostname; }
  set hostname(value) { this.#set('hostname', value); }
  get port() { return this.#parts.port; }
  set port(value) { this.#set('port', value); }
  get pathname() { return this.#parts.pathname; }
  set pathname(value) { this.#set('pathname', value); }
  get search() { return this.#parts.search; }
  set search(value) {
    this.#set('search', value);
    if (this.#params) replaceParams.call(this.#params, this.#parts.search.slice(1));
  }
  get hash() { return this.#parts.hash; }
  set hash(value) { this.#set('hash', value); }
  get searchParams() {
    this.#params ??= linkParams(this.#parts.search, (query) => this.#set('search', query));
    return this.#params;
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
  get [Symbol.toStringTag]() { return 'URL'; }
}

class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(text = '') { return native.utf8Encode(wellFormed(text)); }
  get [Symbol.toStringTag]() { return 'TextEncoder'; }
}

class TextDecoder {
  #fatal;
  #ignoreBom;
  constructor(label = 'utf-8', options = {}) {
    if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(String(label).trim().toLowerCase())) {
      throw new RangeError(`unknown encoding: ${label} (only utf-8 is here)`);
    }
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBom = Boolean(options?.ignoreBOM);
  }
  get encoding() { return 'utf-8'; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBom; }
  decode(bytes) {
    if (bytes === undefined) return '';
    const view = ArrayBuffer.isView(bytes)
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      : new Uint8Array(bytes);
    const text = native.utf8Decode(view, this.#fatal);
    if (text === undefined) throw new TypeError('the bytes are not valid UTF-8');
    return !this.#ignoreBom && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
  get [Symbol.toStringTag]() { return 'TextDecoder'; }
}

function structuredClone(value) {
  const seen = new Map();
  const refuse = (what) => new TypeError(`structuredClone: ${what} cannot be copied`);
  const copy = (from) => {
    if (typeof from === 'function' || typeof from === 'symbol') throw refuse(`a ${typeof from}`);
    if (typeof from !== 'object' || from === null) return from;
    const known = seen.get(from);
    if (known !== undefined) return known;
    const keep = (made) => { seen.set(from, made); return made; };
    const tag = Object.prototype.toString.call(from);
    if (Array.isArray(from)) {
      const made = keep(new Array(from.length));
      for (const key of Object.keys(from)) made[key] = copy(from[key]);
      return made;
    }
    if (from instanceof Date) return keep(new Date(from.getTime()));
    if (from instanceof RegExp) return keep(new RegExp(from.source, from.flags));
    if (from instanceof Map) {
      const made = keep(new Map());
      for (const [key, item] of [...from]) made.set(copy(key), copy(item));
      return made;
    }
    if (from instanceof Set) {
      const made = keep(new Set());
      for (const item of [...from]) made.add(copy(item));
      return made;
    }
    if (from instanceof ArrayBuffer) return keep(from.slice(0));
    if (ArrayBuffer.isView(from)) {
      const buffer = copy(from.buffer);
      return keep(tag === '[object DataView]'
        ? new DataView(buffer, from.byteOffset, from.byteLength)
        : new from.constructor(buffer, from.byteOffset, from.length));
    }
    if (from instanceof Error) {
      const names = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
      const made = keep(new (names[from.name] ?? Error)(from.message));
      Object.defineProperty(made, 'stack', { value: from.stack, writable: true, configurable: true, enumerable: false });
      if (Object.hasOwn(from, 'cause')) {
        Object.defineProperty(made, 'cause', { value: copy(from.cause), writable: true, configurable: true, enumerable: false });
      }
      return made;
    }
    if (from instanceof Boolean || from instanceof Number || from instanceof String) return keep(Object(from.valueOf()));
    if (from instanceof Promise || from instanceof WeakMap || from instanceof WeakSet) throw refuse(`a ${tag.slice(8, -1)}`);
    const made = keep({});
    for (const key of Object.keys(from)) {
      Object.defineProperty(made, key, { value: copy(from[key]), writable: true, configurable: true, enumerable: true });
    }
    return made;
  };
  return copy(value);
}

return { URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone };
})
