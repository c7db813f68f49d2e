// The script side of the engine: the `flow` object, the orchestration hooks, timers, console, clock and chance.
//
// Evaluated once, before any project code, as a function of the host's primitives; what it needs of the language is
// taken aside first, so that a script that redefines a built-in misleads only itself. What a fatal error does is not
// decided here: the host notes it before the error is thrown, and ends the run whatever the script does.
(function (native, settings) {
'use strict';

const global = globalThis;
const { apply, construct, defineProperty, ownKeys } = Reflect;
const { freeze, create, setPrototypeOf, getPrototypeOf, getOwnPropertyDescriptor } = Object;
const $Error = Error, $Promise = Promise, $Map = Map, $Set = Set, $WeakMap = WeakMap, $Date = Date, $String = String;
const $Uint8Array = Uint8Array, $ArrayBuffer = ArrayBuffer;
const uncurry = (method) => (self, ...args) => apply(method, self, args);
const mapGet = uncurry($Map.prototype.get), mapSet = uncurry($Map.prototype.set);
const mapDelete = uncurry($Map.prototype.delete);
const setHas = uncurry($Set.prototype.has), setAdd = uncurry($Set.prototype.add);
const weakGet = uncurry($WeakMap.prototype.get), weakSet = uncurry($WeakMap.prototype.set);
const then = uncurry($Promise.prototype.then);
const resolved = (value) => new $Promise((resolve) => resolve(value));
const wellFormed = uncurry($String.prototype.toWellFormed), slice = uncurry($String.prototype.slice);
const indexOf = uncurry($String.prototype.indexOf), trim = uncurry($String.prototype.trim);
const push = uncurry(Array.prototype.push), join = uncurry(Array.prototype.join);
const { stringify, parse } = JSON;
const isArray = Array.isArray, isInteger = Number.isInteger, isFinite = Number.isFinite;
const fromBase64 = $Uint8Array.fromBase64, toBase64 = uncurry($Uint8Array.prototype.toBase64);
const arrayBufferSlice = uncurry($ArrayBuffer.prototype.slice), isView = $ArrayBuffer.isView;
const bufferLength = uncurry(getOwnPropertyDescriptor($ArrayBuffer.prototype, 'byteLength').get);
const iterator = Symbol.iterator;

const isStrict = settings.kind === 'body';
const isScript = settings.kind === 'script' || isStrict;
const CALL_ITEMS = settings.maxItems;

const text = (value) => wellFormed($String(value));
const isText = (value) => typeof value === 'string';
const isRecord = (value) => typeof value === 'object' && value !== null && !isArray(value);

// ---- stacks ---------------------------------------------------------------------------------------------------------

// A stack speaks of the sources as they were written, and not of us. What `captureStackTrace` leaves is its own property.
const stackProperty = getOwnPropertyDescriptor($Error.prototype, 'stack');
const captureStackTrace = $Error.captureStackTrace;
if (stackProperty !== undefined && stackProperty.get !== undefined) {
  const raw = uncurry(stackProperty.get);
  defineProperty($Error.prototype, 'stack', {
    get: { stack() {
      const stack = raw(this);
      return isText(stack) ? native.stack(wellFormed(stack)) : stack;
    } }.stack,
    set: stackProperty.set,
    configurable: true, enumerable: false,
  });
  defineProperty($Error, 'captureStackTrace', {
    value: { captureStackTrace(target, above) {
      apply(captureStackTrace, $Error, [target, above === undefined ? $Error.captureStackTrace : above]);
      const own = getOwnPropertyDescriptor(target, 'stack');
      if (own !== undefined && isText(own.value)) {
        defineProperty(target, 'stack', { value: native.stack(wellFormed(own.value)), writable: true, configurable: true, enumerable: false });
      }
    } }.captureStackTrace,
    writable: true, configurable: true, enumerable: false,
  });
}

// ---- errors -------------------------------------------------------------------------------------------------------

// The errors we made ourselves, told from look-alikes by identity: error -> {code, errCode, data}.
const ours = new $WeakMap();

function hookError(code, message, data) {
  const error = new $Error(message);
  const errCode = isRecord(data) && isInteger(data.errCode) ? data.errCode : undefined;
  defineProperty(error, 'name', { value: 'WorkflowError', writable: true, configurable: true, enumerable: false });
  error.code = code;
  if (data !== undefined) error.data = data;
  if (errCode !== undefined) error.errCode = errCode;
  if (isStrict) error.fatal = true;
  weakSet(ours, error, { code, errCode, data });
  return error;
}

function fatal(code, message, errCode, data) {
  const error = hookError(code, message, data);
  error.fatal = true;
  native.fatal(code, text(message), errCode, data === undefined ? undefined : write(data), stackOf(error));
  return error;
}

// Misuse of a hook ends a module's run; the dialect of scripts lets it be caught, and makes it `null` in combinators.
const misuse = (message) => (isScript ? hookError('INVALID_ARGUMENT', message) : fatal('INVALID_ARGUMENT', message));
const capped = (code, message) => (isScript ? hookError(code, message) : fatal(code, message));

function stackOf(error) {
  try {
    const stack = error.stack;
    return isText(stack) ? wellFormed(stack) : '';
  } catch {
    return '';
  }
}

// What a thrown value says of itself: [name, message, stack, code, errCode, data]. Never throws.
function describe(thrown, depth) {
  try {
    if (typeof thrown !== 'object' || thrown === null) return ['', text(thrown), '', '', undefined, undefined];
    // By the strict contract a stack that cannot be read makes the whole value unreadable.
    if (isStrict) void thrown.stack;
    const mark = weakGet(ours, thrown);
    let name = thrown.name, message = thrown.message, stack = stackOf(thrown);
    name = isText(name) ? wellFormed(name) : '';
    message = isText(message) ? wellFormed(message) : '';
    if (thrown instanceof $Error && thrown.cause !== undefined && (depth ?? 0) < 5) {
      const cause = describe(thrown.cause, (depth ?? 0) + 1);
      const head = (cause[0] ? cause[0] + ': ' : '') + cause[1];
      stack += (stack === '' || stack[stack.length - 1] === '\n' ? '' : '\n') + 'caused by: ' + head + '\n' + cause[2];
    }
    if (mark !== undefined) {
      const data = mark.data === undefined ? undefined : write(mark.data);
      return ['', message, stack, mark.code, mark.errCode, data];
    }
    if (message === '' && name === '') {
      if (isStrict) return ['', text(thrown), stack, '', undefined, undefined];
      let shown = '';
      try { shown = stringify(thrown); } catch { /* shown as text below */ }
      return ['', isText(shown) && shown !== '{}' && shown !== '' ? wellFormed(shown) : text(thrown), stack, '', undefined, undefined];
    }
    return [name, message, stack, '', undefined, undefined];
  } catch {
    return ['', '[unrenderable thrown value]', '', '', undefined, undefined];
  }
}

// ---- values that leave the script -----------------------------------------------------------------------------------

const bigintsAsText = (key, value) => (typeof value === 'bigint' ? $String(value) : value);

// Writes a value by JSON's own rules; bigints become text. Throws for cycles.
function write(value) {
  let written;
  try {
    written = stringify(value);
  } catch {
    written = stringify(value, bigintsAsText);
  }
  return written === undefined ? 'null' : written;
}

function writeArguments(call, value) {
  try {
    return write(value);
  } catch (error) {
    throw misuse(`${call}: the arguments cannot be written as JSON: ${describe(error)[1]}`);
  }
}

function shown(value) {
  if (isText(value)) return wellFormed(value);
  if (value instanceof $Error) {
    const [name, message] = describe(value);
    return name === '' ? message : `${name}: ${message}`;
  }
  try {
    switch (typeof value) {
      case 'bigint': return `${value}n`;
      case 'function': return `[Function: ${text(value.name || 'anonymous')}]`;
      case 'symbol': case 'undefined': case 'number': case 'boolean': return text(value);
      default: {
        const written = stringify(value, bigintsAsText);
        return written === undefined ? text(value) : wellFormed(written);
      }
    }
  } catch {
    try { return text(value); } catch { return '[unprintable]'; }
  }
}

function joined(values) {
  const parts = [];
  for (let index = 0; index < values.length; index++) push(parts, shown(values[index]));
  return join(parts, ' ');
}

// ---- nodes, notes ---------------------------------------------------------------------------------------------------

let nodes = 0;

function openNode(kind, title, parent) {
  const id = ++nodes;
  native.nodeStart(id, parent, kind, text(title));
  return id;
}

const noted = new $Set();

function note(code, subject, sentence) {
  const key = code + '\n' + (subject ?? '');
  if (setHas(noted, key)) return;
  setAdd(noted, key);
  native.note(code, subject === undefined ? undefined : text(subject), text(sentence));
}

// ---- host calls -----------------------------------------------------------------------------------------------------

const open = new $Map();
let lastSeq = 0;

// Asks the host for something; `node` is [kind, title] when the call is shown as a node of its own.
function call(scope, kind, name, args, node) {
  const fault = native.prepare(kind, writeArguments(name, args));
  if (fault !== undefined) throw misuse(`${name}: ${fault}`);
  const parent = scope.phase || scope.node;
  const own = node === undefined ? 0 : openNode(node[0], node[1], parent);
  return new $Promise((resolve, reject) => {
    lastSeq = native.issue(kind, parent, own);
    mapSet(open, lastSeq, { resolve, reject, own, kind });
  });
}

// Hands the outcome of a host call to whoever waits for it. Called by the host, one at a time.
function deliver(seq, good, written, code, message) {
  const entry = mapGet(open, seq);
  if (entry === undefined) return;
  mapDelete(open, seq);
  const value = written === undefined ? undefined : parse(written);
  if (entry.own !== 0) {
    const failed = !good || (entry.kind === 'agent' && isRecord(value) && isText(value.reason));
    native.nodeEnd(entry.own, failed ? 'failed' : 'success');
  }
  if (good) entry.resolve(value);
  else entry.reject(hookError(code, message, value));
}

// ---- orchestration --------------------------------------------------------------------------------------------------

const spent = () => native.counts()[1];

const AGENT_OPTIONS = new $Set([
  'label', 'phase', 'schema', 'provider', 'model', 'effort', 'agentType', 'isolation', 'stallMs', 'timeoutMs', 'retries',
]);
// What a provider may honour or not; the host takes care of the others.
const HONOURABLE = new $Set(['provider', 'model', 'effort', 'agentType', 'isolation', 'stallMs', 'timeoutMs', 'retries']);
const honoured = settings.agentOptions === undefined ? undefined : new $Set(settings.agentOptions);
const NUMBER_OPTIONS = new $Set(['stallMs', 'timeoutMs', 'retries']);
const MOST_RETRIES = 10;
const TEXT_OPTIONS = new $Set(['label', 'phase', 'provider', 'model', 'effort', 'agentType', 'isolation']);

function numberFault(key, value) {
  if (key === 'retries') {
    return isInteger(value) && value >= 0 && value <= MOST_RETRIES ? '' : `must be a whole number from 0 to ${MOST_RETRIES}`;
  }
  return isFinite(value) && value > 0 ? '' : 'must be a number of milliseconds above 0';
}

function agentOptions(options) {
  const kept = {};
  if (options === undefined || (isScript && options === null)) return kept;
  if (!isRecord(options)) throw misuse('agent: the options must be an object');
  const keys = ownKeys(options);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (!isText(key)) continue;
    let value = options[key];
    if (value === undefined || value === null) continue;
    if (setHas(HONOURABLE, key) && honoured !== undefined && !setHas(honoured, key)) {
      note('option-ignored', key, `agent option \`${key}\` is nothing that the provider can honour`);
      continue;
    }
    if (!setHas(AGENT_OPTIONS, key)) {
      if (!isScript) throw misuse(`agent: there is no option \`${key}\``);
      note('option-ignored', key, `agent option \`${key}\` means nothing here and is ignored`);
      continue;
    }
    if (setHas(TEXT_OPTIONS, key) && !isText(value)) {
      if (!isScript) throw misuse(`agent: option \`${key}\` must be a text`);
      value = shown(value);
      note('option-coerced', key, `agent option \`${key}\` was turned into text`);
    }
    if (setHas(NUMBER_OPTIONS, key)) {
      const fault = numberFault(key, value);
      if (fault !== '') {
        if (!isScript) throw misuse(`agent: option \`${key}\` ${fault}`);
        note('option-ignored', key, `agent option \`${key}\` ${fault}, so it is ignored`);
        continue;
      }
    }
    kept[key] = value;
  }
  return kept;
}

function firstLine(prompt) {
  const end = indexOf(prompt, '\n');
  const line = end < 0 ? prompt : slice(prompt, 0, end);
  return line.length > 48 ? slice(line, 0, 47) + '…' : line;
}

// What an agent wrote, in tokens. A provider that tells none is taken to need one for four characters.
function outputTokens(answer) {
  if (isFinite(answer.outputTokens)) return answer.outputTokens;
  const value = answer.value ?? '';
  const written = isText(value) ? value : write(value);
  if (written === '') return 0;
  if (settings.maxTokens !== undefined) {
    note('budget-estimated', undefined, 'the provider tells no tokens, so one is counted for four characters of its answers');
  }
  return Math.ceil(written.length / 4);
}

async function agent(scope, prompt, options) {
  if (!isText(prompt) || prompt === '') {
    const hint = isRecord(prompt) ? ': the prompt comes first, the options second' : '';
    throw misuse(`agent: the prompt must be a non-empty text${hint}`);
  }
  const kept = agentOptions(options);
  if (settings.maxTokens !== undefined && spent() >= settings.maxTokens) {
    refusedInARow('the token budget');
    throw hookError('BUDGET_EXCEEDED', `the run's agents have used ${spent()} of ${settings.maxTokens} output tokens`);
  }
  if (native.counts()[0] >= settings.maxAgents) {
    refusedInARow('the agent cap');
    throw capped('AGENT_CAP', `the run may start ${settings.maxAgents} agents (\`maxAgents\`)`);
  }
  refused = 0;
  native.agentAccepted();
  const label = kept.label ?? firstLine(prompt);
  const request = { prompt, label };
  const phase = kept.phase ?? scope.phaseTitle;
  if (phase !== undefined) request.phase = phase;
  const keys = ownKeys(kept);
  for (let index = 0; index < keys.length; index++) {
    if (keys[index] !== 'label' && keys[index] !== 'phase') request[keys[index]] = kept[keys[index]];
  }
  let answer;
  try {
    answer = await call(scope, 'agent', 'agent', request, ['agent', label]);
  } catch (error) {
    const mark = weakGet(ours, error);
    // Nothing was asked of anybody: a schema that is none is misuse like any other.
    if (mark !== undefined && mark.code === 'UNSUPPORTED_SCHEMA') {
      native.agentRefused();
      throw isScript ? error : fatal(mark.code, `agent: ${error.message}`);
    }
    native.agentEnded(true, 0);
    throw error;
  }
  if (!isRecord(answer)) return answer ?? null;
  native.agentEnded(isText(answer.reason), outputTokens(answer));
  if (isText(answer.reason)) note('agent-failed', label, answer.reason);
  return answer.value ?? null;
}

// A loop that asks for ever after a cap, each time inside a combinator, is ended.
let refused = 0;
function refusedInARow(cap) {
  note('cap-reached', cap, `${cap} of the run is reached`);
  refused += 1;
  if (refused > 1000) throw fatal('AGENT_CAP', `the script went on asking for agents after ${cap} was reached`);
}

// Says once for a call what was swallowed, since a `null` alone helps nobody.
function swallowed(name, state, error) {
  const [kind, message] = describe(error);
  if (state.first === undefined) state.first = (kind === '' ? '' : kind + ': ') + message;
  state.count += 1;
  if (state.count === 1) state.subject = message;
  state.name = name;
}

function tellSwallowed(state) {
  if (state.count === 0) return;
  const more = state.count > 1 ? ` (and ${state.count - 1} more)` : '';
  note(`${state.name}-threw`, state.subject, `${state.name}: ${state.first} became null${more}`);
}

function itemsOf(name, what, items) {
  let list = items;
  if (!isArray(items)) {
    if (!isScript || name === 'pipeline' || items === null || typeof items !== 'object' || items[iterator] === undefined) {
      const expected = name === 'pipeline' ? 'pipeline() expects an array as its first argument' : `parallel: ${what} must be an array`;
      throw misuse(expected);
    }
    list = [];
    for (const item of items) {
      push(list, item);
      if (list.length > CALL_ITEMS) break;
    }
  }
  if (list.length > CALL_ITEMS) {
    throw capped('ITEM_CAP', `${name}: ${list.length} items, and ${CALL_ITEMS} are allowed in one call`);
  }
  return list;
}

async function parallel(thunks) {
  const list = itemsOf('parallel', 'the argument', thunks);
  const length = list.length;
  if (!isScript) {
    for (let index = 0; index < length; index++) {
      if (typeof list[index] !== 'function') {
        throw misuse(`parallel: element ${index} is not a function (pass functions that start the work, not promises)`);
      }
    }
  }
  const state = { count: 0 };
  const running = [];
  const results = [];
  for (let index = 0; index < length; index++) {
    const thunk = list[index];
    running[index] = (async () => {
      try {
        if (typeof thunk === 'function') {
          results[index] = await thunk();
        } else {
          note('parallel-not-a-function', undefined, 'parallel was given values or promises instead of functions');
          results[index] = await thunk;
        }
      } catch (error) {
        swallowed('parallel', state, error);
        results[index] = null;
      }
    })();
  }
  for (let index = 0; index < length; index++) await running[index];
  tellSwallowed(state);
  return results;
}

async function pipeline(items, stages) {
  const list = itemsOf('pipeline', 'the first argument', items);
  const length = list.length;
  if (stages.length === 0) throw misuse('pipeline: at least one stage is needed');
  for (let index = 0; index < stages.length; index++) {
    if (typeof stages[index] !== 'function') throw misuse(`pipeline: stage ${index} is not a function`);
  }
  const state = { count: 0 };
  const running = [];
  const results = [];
  for (let index = 0; index < length; index++) {
    const item = list[index];
    running[index] = (async () => {
      try {
        let value = item;
        for (let at = 0; at < stages.length; at++) {
          const stage = stages[at];
          value = await stage(value, item, index);
        }
        results[index] = value;
      } catch (error) {
        swallowed('pipeline', state, error);
        results[index] = null;
      }
    })();
  }
  for (let index = 0; index < length; index++) await running[index];
  tellSwallowed(state);
  return results;
}

// ---- flow -----------------------------------------------------------------------------------------------------------

function closePhase(scope, status) {
  if (scope.phase !== 0) native.nodeEnd(scope.phase, status);
  scope.phase = 0;
}

function enterPhase(scope, title) {
  closePhase(scope, 'success');
  scope.phase = openNode('phase', title, scope.node);
  scope.phaseTitle = wellFormed(title);
  native.phase(scope.phaseTitle, scope.phase);
}

function needText(call, what, value) {
  if (!isText(value) || value === '') throw misuse(`${call}: ${what} must be a non-empty text`);
  return value;
}

function needRecord(call, what, value) {
  if (!isRecord(value)) throw misuse(`${call}: ${what} must be an object`);
  return value;
}

// The arguments of a call with its options; an option by the name of an argument is none.
function withOptions(call, args, options) {
  const request = { ...options };
  const names = ownKeys(args);
  for (let index = 0; index < names.length; index++) {
    if (request[names[index]] !== undefined) throw misuse(`${call}: there is no option \`${names[index]}\``);
    request[names[index]] = args[names[index]];
  }
  return request;
}

function needFile(call, value) {
  if (!isRecord(value) || !isText(value.file)) throw misuse(`${call}: a file reference is needed, as it came in the input`);
  return value;
}

function bytesOf(data) {
  if (isView(data)) return new $Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  try {
    bufferLength(data);
    return new $Uint8Array(data);
  } catch {
    return undefined;
  }
}

function makeFlow(scope) {
  const kv = freeze({
    async get(key) { return await call(scope, 'kv.get', 'kv.get', { key: needText('kv.get', 'the key', key) }); },
    async set(key, value) {
      await call(scope, 'kv.set', 'kv.set', { key: needText('kv.set', 'the key', key), value: value ?? null });
    },
    async delete(key) { return await call(scope, 'kv.delete', 'kv.delete', { key: needText('kv.delete', 'the key', key) }); },
    async list(prefix) { return await call(scope, 'kv.list', 'kv.list', { prefix: prefix ?? '' }); },
  });

  const knowledge = freeze({
    async add(entry) {
      needRecord('knowledge.add', 'the entry', entry);
      const request = { ...entry };
      needText('knowledge.add', '`text`', request.text);
      return await call(scope, 'knowledge.add', 'knowledge.add', request);
    },
    async search(query, options) {
      if (options !== undefined) needRecord('knowledge.search', 'the options', options);
      needText('knowledge.search', 'the query', query);
      return await call(scope, 'knowledge.search', 'knowledge.search', withOptions('knowledge.search', { query }, options));
    },
    async remove(id) {
      return await call(scope, 'knowledge.remove', 'knowledge.remove', { id: needText('knowledge.remove', 'the id', id) });
    },
    async list() { return await call(scope, 'knowledge.list', 'knowledge.list', {}); },
  });

  const files = freeze({
    async info(file) { return await call(scope, 'files.info', 'files.info', { file: needFile('files.info', file) }); },
    async readText(file) { return await call(scope, 'files.readText', 'files.readText', { file: needFile('files.readText', file) }); },
    async readBytes(file) {
      const answer = await call(scope, 'files.readBytes', 'files.readBytes', { file: needFile('files.readBytes', file) });
      return apply(fromBase64, $Uint8Array, [answer.base64]);
    },
    async create(name, data) {
      needText('files.create', 'the name', name);
      if (isText(data)) return await call(scope, 'files.create', 'files.create', { name, text: data });
      const bytes = bytesOf(data);
      if (bytes === undefined) throw misuse('files.create: the data must be a text or bytes');
      return await call(scope, 'files.create', 'files.create', { name, base64: toBase64(bytes) });
    },
    async list() { return await call(scope, 'files.list', 'files.list', {}); },
  });

  return freeze({
    phase(title) { enterPhase(scope, needText('phase', 'the title', title)); },
    log(message, data) {
      native.line('log', shown(message), data === undefined ? undefined : writeArguments('log', data));
    },
    async progress(done, total, message) {
      if (!isFinite(done)) throw misuse('progress: `done` must be a number');
      if (total !== undefined && !isFinite(total)) throw misuse('progress: `total` must be a number');
      if (message !== undefined && !isText(message)) throw misuse('progress: `message` must be a text');
      native.progress(done, total, message === undefined ? undefined : text(message));
    },
    async step(name, fn) {
      needText('step', 'the name', name);
      if (typeof fn !== 'function') throw misuse('step: the second argument must be a function');
      const inner = { node: openNode('step', name, scope.phase || scope.node), phase: 0, phaseTitle: scope.phaseTitle };
      let value;
      try {
        value = await fn(makeFlow(inner));
      } catch (error) {
        closePhase(inner, 'failed');
        native.nodeEnd(inner.node, 'failed');
        throw error;
      }
      closePhase(inner, 'success');
      native.nodeEnd(inner.node, 'success');
      return value;
    },
    agent(prompt, options) { return agent(scope, prompt, options); },
    parallel(thunks) { return parallel(thunks); },
    pipeline(items, ...stages) { return pipeline(items, stages); },
    async form(form) {
      needRecord('form', 'the form', form);
      const request = { ...form };
      needText('form', '`title`', request.title);
      needRecord('form', '`fields`', request.fields);
      return await call(scope, 'form', 'form', request, ['form', request.title]);
    },
    async approve(request) {
      needRecord('approve', 'the request', request);
      const wanted = { ...request, args: request.args ?? {} };
      needText('approve', '`tool`', wanted.tool);
      return await call(scope, 'approve', 'approve', wanted, ['form', isText(wanted.title) ? wanted.title : wanted.tool]);
    },
    async exec(program, args, options) {
      needText('exec', 'the program', program);
      if (args !== undefined && !isArray(args)) throw misuse('exec: the arguments must be a list of texts');
      const list = args ?? [];
      for (let index = 0; index < list.length; index++) {
        if (!isText(list[index])) throw misuse(`exec: argument ${index} is not a text`);
      }
      if (options !== undefined) needRecord('exec', 'the options', options);
      const request = withOptions('exec', { program, args: list }, options);
      return await call(scope, 'exec', 'exec', request, ['command', joined([program, ...list])]);
    },
    async http(request) {
      needRecord('http', 'the request', request);
      const wanted = { ...request };
      // A `URL` is one as well.
      if (isRecord(wanted.url)) wanted.url = text(wanted.url);
      needText('http', '`url`', wanted.url);
      if (wanted.body !== undefined && wanted.body !== null && !isText(wanted.body)) {
        throw misuse('http: `body` must be a text (JSON.stringify it, and set the content type)');
      }
      return await call(scope, 'http', 'http', wanted);
    },
    kv,
    value(name, initial) {
      const read = () => call(scope, 'value.get', 'value', { name });
      const handle = {
        async get() {
          const { value, revision } = await read();
          return revision === 0 ? initial : value;
        },
        async set(value) { await call(scope, 'value.set', 'value', { name, value: value ?? null }); },
        async update(fn) {
          if (typeof fn !== 'function') throw misuse('value: update needs a function');
          for (;;) {
            const { value, revision } = await read();
            const next = (await fn(revision === 0 ? initial : value)) ?? null;
            if (await call(scope, 'value.cas', 'value', { name, revision, value: next })) return next;
          }
        },
      };
      if (!isText(name) || name === '') {
        const promise = new $Promise((_, reject) => reject(misuse('value: the name must be a non-empty text')));
        return promise;
      }
      // A promise of the handle that is one itself, so that both ways of writing work.
      const promise = resolved(freeze({ ...handle }));
      promise.get = handle.get;
      promise.set = handle.set;
      promise.update = handle.update;
      return promise;
    },
    knowledge,
    files,
    related(alias) {
      needText('related', 'the alias', alias);
      return freeze({
        async run(entrypoint, input) {
          needText('related', 'the entrypoint', entrypoint);
          if (input !== undefined) needRecord('related', 'the input', input);
          return await call(scope, 'related', 'related', { alias, entrypoint, input: input ?? {} }, ['related', `${alias}/${entrypoint}`]);
        },
      });
    },
    async env(name) { return (await call(scope, 'env', 'env', { name: needText('env', 'the name', name) })) ?? undefined; },
    async secret(name) { return await call(scope, 'secret', 'secret', { name: needText('secret', 'the name', name) }); },
    fail(message, options) {
      if (options !== undefined) needRecord('fail', 'the options', options);
      const { errCode, data, ...others } = options ?? {};
      if (ownKeys(others).length > 0) throw misuse(`fail: there is no option \`${text(ownKeys(others)[0])}\``);
      if (errCode !== undefined && !isInteger(errCode)) throw misuse('fail: `errCode` must be a whole number');
      throw fatal('business_error', shown(message), errCode, data);
    },
  });
}

const root = { node: 0, phase: 0, phaseTitle: undefined };
const flow = makeFlow(root);

// ---- globals --------------------------------------------------------------------------------------------------------

function hide(name, value) {
  defineProperty(global, name, { value, writable: true, configurable: true, enumerable: false });
}

for (const name of ['WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer', 'performance', 'gc']) {
  delete global[name];
}

// Clock and chance: the same again when the run is replayed.
const clock = () => {
  if (isScript && !isStrict) note('clock', undefined, 'the clock shows the run’s own time');
  return native.clock();
};
function RunDate(...args) {
  if (new.target === undefined) return $String(new $Date(clock()));
  return construct($Date, args.length === 0 ? [clock()] : args, new.target);
}
defineProperty(RunDate, 'name', { value: 'Date', configurable: true });
defineProperty(RunDate, 'length', { value: 7, configurable: true });
defineProperty(RunDate, 'prototype', { value: $Date.prototype, writable: false });
defineProperty($Date.prototype, 'constructor', { value: RunDate, writable: true, configurable: true });
for (const name of ['parse', 'UTC']) {
  defineProperty(RunDate, name, { value: $Date[name], writable: true, configurable: true });
}
defineProperty(RunDate, 'now', { value: { now() { return clock(); } }.now, writable: true, configurable: true });
hide('Date', RunDate);
defineProperty(Math, 'random', {
  value: {
    random() {
      if (isScript && !isStrict) note('random', undefined, 'chance follows from the run’s seed');
      return native.random();
    },
  }.random,
  writable: true, configurable: true,
});

// Console.
let indent = '';
function line(stream, values) {
  native.line(stream, indent + joined(values), undefined);
}
hide('console', {
  log(...values) { line('stdout', values); },
  info(...values) { line('stdout', values); },
  debug(...values) { line('stdout', values); },
  dir(value) { line('stdout', [value]); },
  table(value) { line('stdout', [value]); },
  warn(...values) { line('stderr', values); },
  error(...values) { line('stderr', values); },
  trace(...values) { line('stderr', values); },
  assert(condition, ...values) { if (!condition) line('stderr', ['Assertion failed', ...values]); },
  group(...values) { if (values.length > 0) line('stdout', values); indent += '  '; },
  groupEnd() { indent = slice(indent, 2); },
});

// Timers, as host calls that are journalled like all others.
const timers = new $Map();
let timerIds = 0;
function startTimer(id, delay, run, repeat) {
  const promise = call(root, 'sleep', 'setTimeout', { ms: delay });
  const entry = { seq: lastSeq };
  mapSet(timers, id, entry);
  then(promise, () => {
    if (mapGet(timers, id) !== entry) return;
    if (!repeat) mapDelete(timers, id);
    // What a timer's function throws has nobody who could catch it.
    try { run(); } catch (error) { crash(error); }
    if (mapGet(timers, id) === entry) startTimer(id, delay, run, true);
  });
}
function delayOf(value) {
  const delay = +value;
  return delay >= 1 && delay <= 2147483647 ? Math.floor(delay) : delay > 2147483647 ? 2147483647 : 1;
}
function timer(name, fn, delay, args, repeat) {
  if (typeof fn !== 'function') throw misuse(`${name}: the first argument must be a function`);
  const id = ++timerIds;
  startTimer(id, delayOf(delay), () => apply(fn, undefined, args), repeat);
  return id;
}
function clearTimer(id) {
  const entry = mapGet(timers, id);
  if (entry === undefined) return;
  mapDelete(timers, id);
  mapDelete(open, entry.seq);
  native.abandon(entry.seq);
}
hide('setTimeout', { setTimeout(fn, delay, ...args) { return timer('setTimeout', fn, delay, args, false); } }.setTimeout);
hide('setInterval', { setInterval(fn, delay, ...args) { return timer('setInterval', fn, delay, args, true); } }.setInterval);
hide('clearTimeout', { clearTimeout(id) { clearTimer(id); } }.clearTimeout);
hide('clearInterval', { clearInterval(id) { clearTimer(id); } }.clearInterval);

hide('queueMicrotask', {
  queueMicrotask(fn) {
    if (typeof fn !== 'function') throw misuse('queueMicrotask: the argument must be a function');
    then(resolved(undefined), () => {
      try { apply(fn, undefined, []); } catch (error) { crash(error); }
    });
  },
}.queueMicrotask);

// What few scripts touch is compiled when it is touched.
function lazily(names) {
  const load = () => {
    const made = native.web()(native);
    for (const name of names) {
      const current = getOwnPropertyDescriptor(global, name);
      if (current !== undefined && current.get !== undefined && weakGet(lazyGetters, current.get)) hide(name, made[name]);
    }
    return made;
  };
  for (const name of names) {
    const get = () => load()[name];
    weakSet(lazyGetters, get, true);
    defineProperty(global, name, { get, set(value) { hide(name, value); }, configurable: true, enumerable: false });
  }
}
const lazyGetters = new $WeakMap();
lazily(['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'structuredClone']);

// ---- orchestration scripts: the hooks are globals -------------------------------------------------------------------

if (isScript && !isStrict) {
  const one = (name, values) => {
    if (values.length !== 1 || !isText(values[0])) {
      note(`${name}-coerced`, undefined, `${name} was given something else than one text`);
    }
    return joined(values);
  };
  const globals = (scope) => ({
    agent: freeze({ agent(prompt, options) { return agent(scope, prompt, options); } }.agent),
    parallel: freeze({ parallel(thunks) { return parallel(thunks); } }.parallel),
    pipeline: freeze({ pipeline(items, ...stages) { return pipeline(items, stages); } }.pipeline),
    phase: freeze({
      phase(title) {
        const wanted = one('phase', [title]);
        if (wanted !== '') enterPhase(scope, wanted);
      },
    }.phase),
    log: freeze({ log(...values) { native.line('log', one('log', values), undefined); } }.log),
    workflow: freeze({ async workflow(target, args) { return await nested(scope, target, args); } }.workflow),
  });
  // Another script of the project, as a part of this run: it sees hooks and `args` of its own, and shares the counters,
  // the journal and the language's globals.
  const nested = async (scope, target, args) => {
    if (scope.nested) throw hookError('NESTING', 'workflow(): a script that was started by one cannot start another');
    const byPath = isRecord(target);
    const wanted = text(byPath ? target.scriptPath : target);
    const [code, message, body] = native.nested(byPath, wanted);
    if (code !== '') throw hookError(code, message);
    const node = openNode('related', `▸ ${wanted}`, scope.phase || scope.node);
    const inner = { node, phase: 0, phaseTitle: undefined, nested: true };
    const own = globals(inner);
    own.args = args === undefined ? undefined : parse(writeArguments('workflow', args));
    own.flow = makeFlow(inner);
    const names = ownKeys(own);
    const view = create(global), seen = create(global);
    for (let index = 0; index < names.length; index++) {
      const property = { value: own[names[index]], writable: true, configurable: true, enumerable: false };
      defineProperty(view, names[index], property);
      defineProperty(seen, names[index], property);
    }
    defineProperty(seen, 'globalThis', { value: view, writable: true, configurable: true, enumerable: false });
    let value;
    try {
      const result = await body(seen)();
      noteLosses(result);
      value = parse(write(result));
    } catch (error) {
      closePhase(inner, 'failed');
      native.nodeEnd(node, 'failed');
      throw error;
    }
    closePhase(inner, 'success');
    native.nodeEnd(node, 'success');
    return value;
  };
  const hooks = globals(root);
  const names = ownKeys(hooks);
  for (let index = 0; index < names.length; index++) hide(names[index], hooks[names[index]]);
  hide('budget', freeze({
    total: settings.maxTokens ?? null,
    spent,
    remaining: () => (settings.maxTokens === undefined ? Infinity : settings.maxTokens > spent() ? settings.maxTokens - spent() : 0),
  }));
  hide('flow', flow);
  const processObject = freeze({ cwd: () => settings.root, env: freeze({}) });
  defineProperty(global, 'process', {
    get() {
      note('process', undefined, '`process` is no part of scripts: only cwd() and an empty env are here');
      return processObject;
    },
    set(value) { hide('process', value); },
    configurable: true, enumerable: false,
  });
  let args = settings.input === undefined ? undefined : parse(settings.input);
  if (isText(args) && !settings.argsVerbatim) {
    const trimmed = trim(args);
    if (trimmed[0] === '{' || trimmed[0] === '[') {
      try {
        args = parse(trimmed);
        note('args-parsed', undefined, '`args` was the text of a JSON value and arrives as that value');
      } catch { /* a text that only looks like JSON stays text */ }
    }
  }
  hide('args', args);
}

// By the strict contract there are six names beside the language's own.
let strict;
if (isStrict) {
  strict = native.strict()(native, settings, {
    call, hookError, note, describe, enterPhase, firstLine, root,
    isOurs: (value) => typeof value === 'object' && value !== null && weakGet(ours, value) !== undefined,
  });
  const names = ['agent', 'parallel', 'pipeline', 'phase', 'log'];
  for (let index = 0; index < names.length; index++) hide(names[index], strict.hooks[index]);
  hide('args', settings.input === undefined ? undefined : parse(settings.input));
  for (const name of [
    'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'queueMicrotask', 'URL', 'URLSearchParams',
    'TextEncoder', 'TextDecoder', 'structuredClone', 'atob', 'btoa',
  ]) delete global[name];
}

// Says once a kind what JSON leaves out of a script's result, which is often the only sign of a forgotten `await`.
function noteLosses(value) {
  const seen = new $Set();
  const waiting = [value];
  const lost = (kind) => note('result-changed', kind, `the result holds ${kind}, which JSON cannot`);
  for (let index = 0; index < waiting.length && index < 100000; index++) {
    const part = waiting[index];
    if (typeof part === 'bigint') lost('bigint');
    else if (typeof part === 'number' && !isFinite(part)) lost('non-finite');
    else if (typeof part === 'function') lost('function');
    else if (typeof part === 'symbol') lost('symbol');
    else if (typeof part === 'object' && part !== null && !setHas(seen, part)) {
      setAdd(seen, part);
      if (typeof part.toJSON === 'function') continue;
      const prototype = getPrototypeOf(part);
      if (!isArray(part) && prototype !== null && getPrototypeOf(prototype) !== null) {
        const maker = prototype.constructor;
        lost(typeof maker === 'function' && isText(maker.name) && maker.name !== '' ? maker.name : 'object');
      }
      const keys = ownKeys(part);
      for (let at = 0; at < keys.length; at++) {
        const property = isText(keys[at]) ? getOwnPropertyDescriptor(part, keys[at]) : undefined;
        if (property !== undefined && property.enumerable) push(waiting, property.value);
      }
    }
  }
}

// ---- the run --------------------------------------------------------------------------------------------------------

function finish(value) {
  let written;
  try {
    written = write(value);
  } catch (error) {
    native.crash('', `the returned value cannot be written as JSON: ${describe(error)[1]}`, '', 'RESULT_UNSERIALIZABLE');
    return;
  }
  native.finish(written);
}

// Names that people expect from other places, and where such work is done here.
const ELSEWHERE = new $Set(['require', 'fetch', 'process', 'crypto', 'performance', 'Buffer', 'module', 'exports', '__dirname']);

function crash(error) {
  const parts = describe(error);
  const name = parts[0] === 'ReferenceError' ? slice(parts[1], 0, indexOf(parts[1], ' ')) : '';
  if (setHas(ELSEWHERE, name)) parts[1] += isScript ? ' here: agents do such work' : ' here: the world is reached through `flow`';
  apply(native.crash, undefined, parts);
}

return {
  // A module: waits for its top level, then calls its default export.
  async module(loaded, namespace) {
    try {
      await loaded;
      const main = namespace.default;
      if (typeof main !== 'function') {
        native.crash('', `${settings.file} has no default export that is a function: add \`export default async function (input, flow) { … }\``, '', '');
        return;
      }
      finish(await main(settings.input === undefined ? {} : parse(settings.input), flow));
    } catch (error) {
      crash(error);
    }
  },
  // A module whose top level tells what it offers.
  async declaration(loaded, namespace) {
    try {
      await loaded;
      finish(namespace.entrypoint);
    } catch (error) {
      crash(error);
    }
  },
  // A script: runs its body.
  async script(body) {
    try {
      const value = await body();
      if (isStrict) {
        const [written, problem] = strict.write(value);
        if (problem === '') native.finish(written);
        else native.crash('', `the workflow's return value is not plain JSON data — ${problem}`, '', 'RESULT_UNSERIALIZABLE');
        return;
      }
      try { noteLosses(value); } catch { /* a value that cannot be looked at is refused where it is written */ }
      finish(value);
    } catch (error) {
      crash(error);
    }
  },
  deliver,
  crash,
  describe,
  isOurs: (value) => typeof value === 'object' && value !== null && weakGet(ours, value) !== undefined,
  // For the check of flow.d.ts against this object.
  flow,
};
})
