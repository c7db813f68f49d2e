// The hooks of the strict contract: what the body of an orchestration script gets when its `meta` travels beside it.
//
// Evaluated once, before any project code, with the prelude's tools. Misuse is told as an error of ours, which no
// combinator swallows; options and results are copied by value, and the first thing that is no JSON refuses them.
(function (native, settings, tools) {
'use strict';

const { call, hookError, isOurs, note, describe, enterPhase, firstLine, root } = tools;
const { ownKeys, apply } = Reflect;
const { getPrototypeOf, getOwnPropertyDescriptor, create, freeze, defineProperty } = Object;
const $Promise = Promise, $String = String, $WeakSet = WeakSet;
const uncurry = (method) => (self, ...args) => apply(method, self, args);
const then = uncurry($Promise.prototype.then);
const weakHas = uncurry($WeakSet.prototype.has), weakAdd = uncurry($WeakSet.prototype.add);
const weakDelete = uncurry($WeakSet.prototype.delete);
const test = uncurry(RegExp.prototype.test);
const { stringify, parse } = JSON;
const isArray = Array.isArray, isFinite = Number.isFinite;
const isText = (value) => typeof value === 'string';
const isRecord = (value) => typeof value === 'object' && value !== null && !isArray(value);
const misuse = (message) => hookError('INVALID_ARGUMENT', message);

const LEVELS = 100;
const SUPPORTED = ['label', 'phase', 'schema', 'provider', 'model'];
const DEFERRED = ['effort', 'isolation', 'agentType'];
const NAMES = 'label, phase, schema, provider, model';
const among = (list, name) => {
  for (let at = 0; at < list.length; at++) if (list[at] === name) return true;
  return false;
};

// ---- values that leave the script -----------------------------------------------------------------------------------

// What refuses a value, told from what a getter throws by identity.
const refusals = new $WeakSet();
function refuse(path, reason) {
  const refusal = { text: `${path}: ${reason}` };
  weakAdd(refusals, refusal);
  throw refusal;
}

function reading(path, read) {
  try {
    return read();
  } catch (error) {
    const [name, message] = describe(error);
    return refuse(path, `reading the value threw: ${name === '' ? message : `${name}: ${message}`}`);
  }
}

const plainName = /^[A-Za-z_$][\w$]*$/;
const step = (path, key) => (test(plainName, key) ? `${path}.${key}` : `${path}[${stringify(key)}]`);

function copy(value, path, open, level) {
  switch (typeof value) {
    case 'string': case 'boolean': return value;
    case 'number':
      if (!isFinite(value)) refuse(path, `${value} is a non-finite number`);
      return value === 0 ? 0 : value;
    case 'undefined': return refuse(path, 'undefined is no JSON value');
    case 'bigint': case 'symbol': case 'function': return refuse(path, `a ${typeof value} is no JSON value`);
  }
  if (value === null) return null;
  if (level > LEVELS) refuse(path, `nested more than ${LEVELS} levels deep`);
  if (weakHas(open, value)) refuse(path, 'a circular reference');
  weakAdd(open, value);
  const made = reading(path, () => isArray(value)) ? copyList(value, path, open, level) : copyRecord(value, path, open, level);
  weakDelete(open, value);
  return made;
}

function copyList(value, path, open, level) {
  const keys = reading(path, () => ownKeys(value));
  const length = reading(path, () => value.length);
  let dense = 0;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at];
    if (!isText(key)) refuse(path, 'a symbol-keyed property');
    if (key === 'length') continue;
    if ($String(key >>> 0) !== key || key >>> 0 >= length) refuse(path, `an array with the non-index property ${stringify(key)}`);
    dense += 1;
  }
  if (dense !== length) refuse(path, 'a sparse array');
  const made = [];
  for (let at = 0; at < length; at++) {
    const inner = `${path}[${at}]`;
    const item = copy(reading(inner, () => value[at]), inner, open, level + 1);
    defineProperty(made, at, { value: item, writable: true, enumerable: true, configurable: true });
  }
  return made;
}

function copyRecord(value, path, open, level) {
  const prototype = reading(path, () => getPrototypeOf(value));
  if (prototype !== null && reading(path, () => getPrototypeOf(prototype)) !== null) refuse(path, 'an object with an exotic prototype');
  const keys = reading(path, () => ownKeys(value));
  const made = create(null);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at];
    if (!isText(key)) refuse(path, 'a symbol-keyed property');
    const inner = step(path, key);
    const property = reading(inner, () => getOwnPropertyDescriptor(value, key));
    if (property === undefined || !property.enumerable) continue;
    made[key] = copy(reading(inner, () => value[key]), inner, open, level + 1);
  }
  return made;
}

// Gives [copy, ''] or [undefined, why not].
function materialise(value, path) {
  try {
    return [copy(value, path, new $WeakSet(), 0), ''];
  } catch (error) {
    if (typeof error === 'object' && error !== null && weakHas(refusals, error)) return [undefined, error.text];
    return [undefined, `${path}: nested too deeply`];
  }
}

// ---- agent ----------------------------------------------------------------------------------------------------------

function agentOptions(options) {
  if (options === undefined) return create(null);
  if (!isRecord(options)) throw misuse('agent() options must be an object');
  const [kept, problem] = materialise(options, 'agent() options');
  if (problem !== '') throw misuse(`agent() options must be plain JSON data — ${problem}`);
  const keys = ownKeys(kept);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at];
    if (among(SUPPORTED, key)) continue;
    const what = among(DEFERRED, key) ? 'is deferred and not served yet' : 'is not recognized';
    throw hookError('UNSUPPORTED_OPTION', `agent() option "${key}" ${what} (supported: ${NAMES})`);
  }
  for (let at = 0; at < SUPPORTED.length; at++) {
    const key = SUPPORTED[at];
    if (key !== 'schema' && kept[key] !== undefined && !isText(kept[key])) throw misuse(`agent() option "${key}" must be a string`);
  }
  if (kept.schema !== undefined) {
    const faults = native.schemaFaults(stringify(kept.schema));
    if (faults !== '') throw hookError('UNSUPPORTED_SCHEMA', `agent() schema is outside the supported subset: ${faults}`);
  }
  return kept;
}

async function agent(prompt, options) {
  if (!isText(prompt) || prompt === '') throw misuse('agent() requires a non-empty prompt string');
  const kept = agentOptions(options);
  if (native.counts()[0] >= settings.maxAgents) {
    throw hookError('AGENT_CAP', `agent(): the run has reached its total agent cap (${settings.maxAgents}), set by maxTotalAgents`);
  }
  native.agentAccepted();
  const label = kept.label ?? firstLine(prompt);
  const request = { prompt, label };
  const phase = kept.phase ?? root.phaseTitle;
  if (phase !== undefined) request.phase = phase;
  if (kept.schema !== undefined) request.schema = kept.schema;
  if (kept.provider !== undefined) request.provider = kept.provider;
  if (kept.model !== undefined) request.model = kept.model;
  let answer;
  try {
    answer = await call(root, 'agent', 'agent', request, ['agent', label]);
  } catch (error) {
    native.agentEnded(true, 0);
    throw error;
  }
  if (!isRecord(answer)) return answer ?? null;
  native.agentEnded(isText(answer.reason), isFinite(answer.outputTokens) ? answer.outputTokens : 0);
  if (isText(answer.reason)) note('agent-failed', label, answer.reason);
  return answer.value ?? null;
}

// ---- combinators ----------------------------------------------------------------------------------------------------

function checkItems(name, what, items) {
  if (!isArray(items)) throw misuse(`${name}() requires ${what}`);
  if (items.length > settings.maxItems) {
    throw hookError('ITEM_CAP', `${name}() was given ${items.length} items, over the per-call cap (${settings.maxItems}), set by maxItemsPerCall`);
  }
}

// Starts all at once and keeps their order; what is thrown becomes `null`, but for our own errors.
function gather(length, start) {
  const results = [];
  for (let at = 0; at < length; at++) results[at] = null;
  return new $Promise((resolve, reject) => {
    let left = length;
    if (left === 0) resolve(results);
    const guarded = async (at) => {
      try {
        return await start(at);
      } catch (error) {
        if (isOurs(error)) throw error;
        return null;
      }
    };
    for (let at = 0; at < length; at++) {
      then(guarded(at), (value) => {
        results[at] = value;
        left -= 1;
        if (left === 0) resolve(results);
      }, reject);
    }
  });
}

async function parallel(thunks) {
  checkItems('parallel', 'an array of functions', thunks);
  const list = [];
  for (let at = 0; at < thunks.length; at++) {
    if (typeof thunks[at] !== 'function') throw misuse(`parallel() item ${at} is not a function: pass functions that start the work`);
    list[at] = thunks[at];
  }
  return await gather(list.length, (at) => (0, list[at])());
}

async function pipeline(items, ...stages) {
  checkItems('pipeline', 'an items array', items);
  if (stages.length === 0) throw misuse('pipeline() requires at least one stage');
  for (let at = 0; at < stages.length; at++) {
    if (typeof stages[at] !== 'function') throw misuse(`pipeline() stage ${at} is not a function`);
  }
  const list = [];
  for (let at = 0; at < items.length; at++) list[at] = items[at];
  return await gather(list.length, async (index) => {
    let value = list[index];
    for (let at = 0; at < stages.length; at++) {
      const stage = stages[at];
      value = await stage(value, list[index], index);
    }
    return value;
  });
}

function phase(title) {
  if (!isText(title) || title === '') throw misuse('phase() requires a non-empty title string');
  enterPhase(root, title);
}

function log(message) {
  if (!isText(message)) throw misuse('log() requires a message string');
  native.line('log', message, undefined);
}

return {
  hooks: [freeze(agent), freeze(parallel), freeze(pipeline), freeze(phase), freeze(log)],
  // Gives [text, ''] or ['', why not].
  write(value) {
    if (value === undefined) return ['null', ''];
    const [made, problem] = materialise(value, 'workflow result');
    return problem === '' ? [stringify(made), ''] : ['', problem];
  },
  parse,
};
})
