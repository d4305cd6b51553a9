/** The search for jobs: its syntax, as the server has it, as far as the page changes it. */
import { STATES } from './states.js';

const NAMES = ['state', 'queue', 'kind', 'age', 'code', 'failure', 'run', 'parent', 'tag', 'tenant', 'waits'];
const TOKEN = /([A-Za-z][^\s:"]*:)?((?:"[^"]*"?|[^\s"])*)/g;
const MOST_SUGGESTED = 20;

/** The words of a search: those with a known name before a colon, and texts. */
export function terms(search) {
  return [...String(search ?? '').matchAll(TOKEN)]
    .filter(([whole]) => whole)
    .map(([whole, prefix, value]) => {
      const name = prefix?.slice(0, -1);
      const known = name && (NAMES.includes(name) || name.startsWith('payload.'));
      return { whole, name: known ? name : null, value: known ? value.replaceAll('"', '') : whole };
    });
}

/** The value of a name; the last one counts, as on the server. */
export const termOf = (search, name) => terms(search).findLast((term) => term.name === name)?.value ?? null;

const quoted = (value) => (/[\s":]/.test(value) ? `"${String(value).replaceAll('"', '')}"` : value);

/** The search with another value for a name, or without it. */
export function withTerm(search, name, value) {
  const others = terms(search).filter((term) => term.name !== name).map((term) => term.whole);
  return [...others, ...(value ? [`${name}:${quoted(value)}`] : [])].join(' ');
}

export const without = (search, ...names) => names.reduce((rest, name) => withTerm(rest, name, null), search);

export const statesOf = (search) => (termOf(search, 'state') ?? '').toUpperCase().split(',').filter(Boolean);

/** Whether jobs have to be read through for it. */
export const isContent = (search) => terms(search).some(({ name }) => !name || name === 'code' || name === 'failure' || name.startsWith('payload.'));

/** Links of other pages, and bookmarks, have a parameter for each thing. */
export function fromFilter({ search = '', state, queue, kind, minutes, runId, parentId, q }) {
  const named = { state: state?.toLowerCase(), queue, kind, age: minutes && `<${minutes}m`, run: runId, parent: parentId };
  const whole = Object.entries(named).reduce((rest, [name, value]) => (value ? withTerm(rest, name, value) : rest), search);
  return [whole, q && quoted(q)].filter(Boolean).join(' ');
}

/** What the last word of a search may become, as whole searches. */
export function suggestions(search, queues, kinds) {
  const at = search.lastIndexOf(' ') + 1;
  const [before, word] = [search.slice(0, at), search.slice(at)];
  const values = { state: STATES.map((state) => state.toLowerCase()), queue: queues, kind: kinds, age: ['<15m', '<1h', '<1d', '<7d', '>1h', '>1d'] };
  const colon = word.indexOf(':');
  const all = colon < 0 ? [...NAMES.map((name) => `${name}:`), 'payload.'] : (values[word.slice(0, colon)] ?? []).map((value) => `${word.slice(0, colon)}:${quoted(value)}`);
  return all.filter((each) => each.startsWith(word) && each !== word).slice(0, MOST_SUGGESTED).map((each) => before + each);
}
