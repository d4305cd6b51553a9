/** What somebody has chosen, kept by the browser where it keeps anything. */

export function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // then it is only for now
  }
}
