/** What is done to many jobs: counted before, with progress during it. */
import { ask, toast } from './dialogs.js';
import { count } from './format.js';
import { statesOf, termOf, without } from './search.js';
import { get, post, query } from './server.js';
import { ACTIVE, DEAD } from './states.js';

const POSSIBLE = { cancel: ACTIVE, retry: DEAD };
const MOST_KINDS = 5;
/** More than these, or all there are, are not for one click. */
const MOST_AT_ONCE = 1000;

/**
 * Of the states that a search asks for, those in which this can be done. Cancelled jobs were cancelled by somebody: they
 * are retried only if the search asks for them.
 */
export function among(verb, search) {
  const asked = statesOf(search);
  return asked.length ? asked.filter((state) => POSSIBLE[verb].includes(state)) : POSSIBLE[verb].filter((state) => state !== 'CANCELLED');
}

/** Those of the chosen jobs to which this can be done. */
export const applicable = (verb, jobs) => jobs.filter((job) => POSSIBLE[verb].includes(job.state)).map((job) => job.id);

/** 'waiting, pending or running' */
const listed = (states) => states.map((state) => state.toLowerCase()).join(', ').replace(/, (?=[^,]*$)/, ' or ');

const jobs = (n, more) => `${more ? 'at least ' : ''}${count(n)} ${n === 1 ? 'job' : 'jobs'}`;

/** How many of a queue, or of all, are in a state; jobs that have ended are not counted with a queue. */
const IN_QUEUE = {
  WAITING: (queue) => queue.waiting,
  PENDING: (queue) => queue.due + queue.delayed,
  RUNNING: (queue) => queue.running,
  RETRYING: (queue) => queue.retrying,
};

/** A count of jobs ends at a number; where it did, and the queues know better, it is theirs. */
async function counted(filter, states) {
  const found = await get(`/v1/jobs/count${query(filter)}`);
  const name = termOf(filter.search, 'queue');
  const alone = without(filter.search, 'queue', 'state') === '';
  if (!found.more || !alone || !states.every((state) => IN_QUEUE[state])) return found;
  const { queues } = await get('/v1/queues');
  const all = queues.filter((queue) => !name || queue.name === name).flatMap((queue) => states.map((state) => IN_QUEUE[state](queue)));
  const sum = all.reduce((total, n) => total + n, 0);
  return sum > found.count ? { count: sum, more: false } : found;
}

/** Which kinds these are, as far as they are among the newest jobs. */
async function byKind(filter) {
  const { rows } = await get(`/v1/jobs/counts${query(filter)}`);
  const kinds = new Map();
  for (const row of rows) kinds.set(row.kind, (kinds.get(row.kind) ?? 0) + row.jobs);
  const most = [...kinds].sort(([, a], [, b]) => b - a);
  if (most.length < 2) return '';
  return ` Kinds: ${most.slice(0, MOST_KINDS).map(([kind, n]) => `${kind} ${count(n)}`).join(', ')}${most.length > MOST_KINDS ? ' and others' : ''}.`;
}

/**
 * Asks and does it, to the jobs with these ids, or to all that a search finds.
 *
 * @param of which jobs a search finds, where that can be said better than by the search
 */
export async function bulk(verb, { ids = [], search = '', of = search ? `that match '${search}'` : 'of all queues' }) {
  const states = among(verb, search);
  const filter = { search, state: states.join(',') };
  let found = { count: ids.length, more: false };
  let kinds = '';
  try {
    if (ids.length === 0) [found, kinds] = await Promise.all([counted(filter, states), byKind(filter)]);
  } catch (failed) {
    toast(failed.message, 'bad');
    return;
  }
  if (found.count === 0 && !found.more) {
    toast(`None of these can be ${verb === 'cancel' ? 'cancelled' : 'retried'}`, 'bad');
    return;
  }
  const what = jobs(found.count, found.more);
  const word = verb === 'cancel' ? 'Cancel' : 'Retry';
  const queue = termOf(search, 'queue');
  const typed = ids.length === 0 && (found.count > MOST_AT_ONCE || found.more || (verb === 'cancel' && !search));
  const right = (given) => given.replace(/[\s.,’']/g, '') === String(found.count) || (queue && given.trim() === queue);
  await ask({
    title: `${word} ${what}?`,
    fields: typed ? [{ name: 'typed', label: `To confirm, type ${count(found.count)}${queue ? `, or the name of the queue` : ''}`, required: true }] : [],
    text: ids.length ? 'The selected jobs.' : `All jobs ${of}${search && of.startsWith('that') ? ' and' : ' that'} are ${listed(states)}.${kinds}`,
    reason: verb === 'cancel',
    confirm: `${word} ${what}`,
    danger: verb === 'cancel',
    act: ({ reason, typed: given }, progress) => {
      if (typed && !right(given)) throw Object.assign(new Error(`'${given}' is not ${count(found.count)}${queue ? `, nor ${queue}` : ''}: nothing was done`), { field: 'typed' });
      return act(verb, ids.length ? { ids } : { filter }, found.count, reason, progress);
    },
  });
}

async function act(verb, chosen, total, reason, progress) {
  const why = verb === 'cancel' && reason ? { reason } : {};
  let done = 0;
  let others = 0;
  let cursor = null;
  progress(0, total);
  do {
    const answer = await post(`/v1/jobs/${verb}`, { ...chosen, ...(cursor ? { cursor } : {}), ...why });
    done += verb === 'cancel' ? answer.cancelled + answer.requested : answer.retried;
    others += verb === 'cancel' ? answer.alreadyTerminal + answer.alreadyRequested : answer.refused;
    cursor = answer.next;
    if (!progress(done, Math.max(total, done))) break;
  } while (cursor);
  return `${count(done)} ${verb === 'cancel' ? 'cancelled, or asked to stop' : 'requeued'}${others ? `; ${count(others)} could not be ${verb === 'cancel' ? 'cancelled' : 'retried'}` : ''}${cursor ? '; stopped before the rest was done' : ''}`;
}
