import { createHash, randomBytes } from "node:crypto";

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

/**
 * The id of a job that another one starts, the same in all languages and whenever it is asked for: the milliseconds of its
 * parent, so that both lie beside each other in an index, and a digest for the rest.
 *
 * @param time how often the parent has started jobs under this id, this time included
 * @param place among those that are started with it
 */
export function childId(parent: string, startedAs: string, time: number, place: number): string {
  const id = Buffer.from(parent.replaceAll("-", ""), "hex");
  const digest = createHash("sha256").update(id).update(`${startedAs}/${time}/${place}`).digest();
  id[6] = 0x70 | (digest.readUInt8(0) & 0x0f);
  digest.copy(id, 7, 1, 2);
  digest.copy(id, 8, 8, 16);
  id[8] = 0x80 | (id.readUInt8(8) & 0x3f);
  // These ten bits say in which of several databases the job is.
  id[14] = id.readUInt8(14) & 0xfc;
  id[15] = 0;
  const hex = id.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
