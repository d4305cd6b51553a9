/** JSON that somebody typed: without losing digits, and with the place of a mistake. */

/** Numbers that JavaScript would round stay as they were written. */
export function exact(key, value, context) {
  return typeof value === 'number' && context?.source && JSON.rawJSON && String(value) !== context.source
    ? JSON.rawJSON(context.source)
    : value;
}

/** Where the parser stopped, as far as its message says it. */
function placeOf(message, text) {
  const position = message.match(/at position (\d+)/);
  const place = message.match(/line (\d+) column (\d+)/);
  if (position) return Number(position[1]);
  if (place) return text.split('\n').slice(0, Number(place[1]) - 1).reduce((sum, line) => sum + line.length + 1, 0) + Number(place[2]) - 1;
  return /end of (JSON )?(input|data)/i.test(message) ? text.length : null;
}

/**
 * @param field which the error names, so that the form can show the place
 */
export function readJson(text, field) {
  try {
    return JSON.parse(text.trim() ? text : '{}', exact);
  } catch (failed) {
    const at = placeOf(failed.message, text);
    const before = at === null ? [] : text.slice(0, at).split('\n');
    const place = at === null ? '' : `, line ${before.length}, column ${before.at(-1).length + 1}`;
    const reason = failed.message.replace(/ in JSON at position.*$| at line \d+ column \d+.*$|^JSON.parse: /g, '');
    throw Object.assign(new Error(`The ${field} is not JSON${place}: ${reason}`), { field, at });
  }
}
