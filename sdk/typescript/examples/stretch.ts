import { pbkdf2Sync } from "node:crypto";
import type { JobContext } from "holdfast";

export default function stretch(payload: { text: string }, ctx: JobContext): string {
  ctx.progress(10, "stretching");
  return pbkdf2Sync(payload.text, "salt", 500_000, 32, "sha256").toString("hex");
}
