import { randomBytes } from "node:crypto";

let pool: Buffer = Buffer.alloc(0);
let used = 0;

/** A UUIDv7: 48 bits of milliseconds since 1970, then random bits, so that new ids come last in an index. */
export function uuidv7(now: number = Date.now()): string {
  if (used + 10 > pool.length) {
    pool = randomBytes(4000);
    used = 0;
  }
  const random = pool.toString("hex", used, used + 10);
  used += 10;
  const time = now.toString(16).padStart(12, "0");
  const variant = (8 | (parseInt(random.charAt(3), 16) & 3)).toString(16);
  return (
    `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-` +
    `${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
  );
}
