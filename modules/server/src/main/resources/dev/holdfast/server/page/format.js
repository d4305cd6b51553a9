/** Text for numbers, spans and times. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const hundredth = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** Local time or UTC, as somebody chose it. */
let zone;
let clock;
let minutes;
let hours;
let day;
let dayOnly;

export function showTimesIn(name) {
  zone = name === 'UTC' ? 'UTC' : undefined;
  clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone: zone });
  minutes = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone });
  hours = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZone: zone });
  dayOnly = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: zone });
  day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: zone });
}

showTimesIn('local');

let ahead = 0;

/** The server's clock is the one that counts; a second or two is the time an answer takes. */
export function serverTime(text) {
  const difference = Date.parse(text) - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) > 2500 ? difference : 0;
}

export const now = () => Date.now() + ahead;

export const count = (n) => (n == null ? '–' : whole.format(n));

export const rate = (n) => (n == null ? '–' : (n >= 100 ? whole : n >= 1 ? tenth : hundredth).format(n));

const two = (more, unit, less, smaller) =>
  Math.floor(less) === 0 ? `${Math.floor(more)} ${unit}` : `${Math.floor(more)} ${unit} ${Math.floor(less)} ${smaller}`;

export function span(ms) {
  if (ms == null) return '–';
  if (ms < 0) return '0 s';
  if (ms === 0) return '0 s';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s < 10 ? tenth.format(s) : Math.floor(s)} s`;
  if (s < 3600) return two(s / 60, 'min', s % 60, 's');
  if (s < 86400) return two(s / 3600, 'h', (s % 3600) / 60, 'min');
  return two(s / 86400, 'd', (s % 86400) / 3600, 'h');
}

export const bytes = (n) =>
  n == null ? '–' : n < 1000 ? `${n} B` : n < 1e6 ? `${tenth.format(n / 1e3)} kB` : `${tenth.format(n / 1e6)} MB`;

export const millis = (iso) => (iso ? Date.parse(iso) : null);

export const timeOfDay = (ms) => clock.format(new Date(ms));

export const hourAndMinute = (iso) => minutes.format(new Date(iso));

export const dayAndHour = (iso) => hours.format(new Date(iso));

/** The exact time, here and in UTC. */
export function exactly(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? String(iso) : `${date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })} · ${iso}`;
}

/** The day only where it is another than today. */
export function moment(iso) {
  if (!iso) return '–';
  const date = new Date(iso);
  const sameDay = day.format(date) === day.format(new Date());
  return sameDay ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
}

/** Without the year, and with seconds only where they are not zero: one of several times in a row. */
export function shortMoment(iso) {
  const date = new Date(iso);
  const at = date.getSeconds() ? clock.format(date) : minutes.format(date);
  return day.format(date) === day.format(new Date()) ? at : `${dayOnly.format(date)} ${at}`;
}

/** The end of an id is what tells two apart: the beginning is the time. */
export const shortId = (id) => `…${String(id).slice(-8)}`;

/** The beginning of something that may be a megabyte long. */
export const clipped = (text, most = 300) => {
  const all = String(text ?? '');
  return all.length > most ? `${all.slice(0, most)}…` : all;
};
