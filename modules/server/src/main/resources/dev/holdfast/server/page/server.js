/** Requests to the server. */

import { serverTime } from './format.js';
import { exact } from './json.js';

/** An answer that says no. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.message ?? `the server answered ${status}`);
    this.status = status;
    this.error = body?.error;
  }
}

export const signedOut = new EventTarget();

/** However many pages are open, they are answered from one look of this many seconds. */
const SHARED = { 'Cache-Control': 'max-age=2' };

async function call(method, path, body, signal) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      headers: body !== undefined ? { 'Content-Type': 'application/json' } : method === 'GET' ? SHARED : {},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (failed) {
    if (failed.name === 'AbortError') throw failed;
    throw new Refused(0, { message: 'the server cannot be reached' });
  }
  serverTime(answer.headers.get('Date'));
  const text = await answer.text();
  let read = null;
  try {
    read = JSON.parse(text, exact);
  } catch {
    // said by the status
  }
  if (!answer.ok) {
    if (answer.status === 401 && path !== '/v1/session') signedOut.dispatchEvent(new Event('signedout'));
    throw new Refused(answer.status, read);
  }
  return read;
}

export const get = (path, signal) => call('GET', path, undefined, signal);
export const post = (path, body) => call('POST', path, body);
export const put = (path, body) => call('PUT', path, body);
export const patch = (path, body) => call('PATCH', path, body);
export const remove = (path) => call('DELETE', path);

export const jobPath = (id, rest = '') => `/v1/jobs/${encodeURIComponent(id)}${rest}`;

export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return given.length ? `?${new URLSearchParams(given)}` : '';
}
