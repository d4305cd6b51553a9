/** What is done to many jobs: counted before, with progress during it. */
import { ask, toast } from './dialogs.js';
import { count } from './format.js';
import { statesOf } from './search.js';
import { get, post, query } from './server.js';
import { ACTIVE, DEAD } from './states.js';

const POSSIBLE = { cancel: ACTIVE, retry: DEAD };
const MOST_KINDS = 5;

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

const jobs = (n, more) => `${count(n)}${more ? ' or more' : ''} ${n === 1 ? 'job' : 'jobs'}`;

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
    if (ids.length === 0) [found, kinds] = await Promise.all([get(`/v1/jobs/count${query(filter)}`), byKind(filter)]);
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
  await ask({
    title: `${word} ${what}?`,
    text: ids.length ? 'The selected jobs.' : `All jobs ${of}${search && of.startsWith('that') ? ' and' : ' that'} are ${listed(states)}.${kinds}`,
    reason: verb === 'cancel',
    confirm: `${word} ${what}`,
    danger: verb === 'cancel',
    act: ({ reason }, progress) => act(verb, ids.length ? { ids } : { filter }, found.count, reason, progress),
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
