/** Enqueues a job that somebody types in, or one like another job. */
import { ask } from './dialogs.js';
import { live } from './live.js';
import { get, post } from './server.js';
import { readJson } from './json.js';

const DEFAULT_PRIORITY = 5;
const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** As on the command line: 90s, 15m, 1h30m, 7d. */
export function millisOf(text) {
  const given = text.trim();
  if (!given) return null;
  if (!/^(\d+(ms|s|m|h|d))+$/.test(given)) throw Object.assign(new Error(`'${given}' is not a time: write 90s, 15m, 1h30m or 7d`), { field: 'delay' });
  return [...given.matchAll(/(\d+)(ms|s|m|h|d)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit], 0);
}

/** Kinds and queues of the newest jobs, to choose from; without them one can still type. */
async function known() {
  try {
    const { rows } = await get('/v1/jobs/counts');
    return { kinds: [...new Set(rows.map((row) => row.kind))].sort(), queues: [...new Set([...rows.map((row) => row.queue), ...live.queues.keys()])].sort() };
  } catch {
    return { kinds: [], queues: [...live.queues.keys()].sort() };
  }
}

/** What the form does not have, and another job of this kind needs all the same. Times, its run and what it waited for are its own. */
function kept({ tenant, workspace, maxAttempts, maxCrashes, concurrencyKey, assetId, partitionKey, resources }) {
  const all = { tenant, workspace, maxAttempts, maxCrashes, concurrencyKey, assetId, partitionKey, resources };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
}

/**
 * Asks for a job and opens the page of what was enqueued.
 *
 * @param like the job whose values the form has at first; none for an empty form
 */
export async function enqueue(like) {
  const { kinds, queues } = await known();
  const lost = like?.omitted?.includes('payload');
  await ask({
    title: like ? `Run ${like.kind} again` : 'Enqueue a job',
    text: like
      ? `A new job with these values; this one stays as it is.${lost ? ' Its payload is too large to be shown here: enter one.' : ''}`
      : 'A worker that serves the queue and has a handler for the kind runs it.',
    fields: [
      { name: 'kind', label: 'Kind', required: true, list: kinds, value: like?.kind ?? '' },
      { name: 'queue', label: 'Queue', required: true, list: queues, value: like?.queue ?? 'default' },
      { name: 'payload', label: 'Payload (JSON)', rows: 8, value: lost ? '' : JSON.stringify(like?.payload ?? {}, null, 2) },
      { name: 'priority', label: 'Priority, 0 is first', type: 'number', min: 0, max: 9, value: like?.priority ?? DEFAULT_PRIORITY },
      { name: 'delay', label: 'Delay, such as 90s or 1h30m', value: '' },
      { name: 'key', label: 'Unique key: while a job with it has not ended, no other is enqueued', value: like?.uniqueKey ?? '' },
    ],
    confirm: 'Enqueue',
    act: async (form) => {
      const payload = readJson(form.payload, 'payload');
      const delayMs = millisOf(form.delay);
      const { id, duplicate } = await post('/v1/jobs', {
        ...(like ? kept(like) : {}),
        kind: form.kind.trim(),
        queue: form.queue.trim(),
        payload,
        priority: form.priority === '' ? DEFAULT_PRIORITY : Number(form.priority),
        ...(delayMs === null ? {} : { delayMs }),
        ...(form.key ? { uniqueKey: form.key } : {}),
      });
      location.hash = `#/jobs/${id}`;
      return duplicate ? 'A job with this key has not ended yet: this is it' : `Enqueued …${id.slice(-8)}`;
    },
  });
}
