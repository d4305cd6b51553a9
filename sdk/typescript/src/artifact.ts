import { readFile } from "node:fs/promises";

const MOST_BYTES = 64 << 20;

/** What is to be published, as bytes. */
export async function artifactContent(name: string, file: string | Uint8Array): Promise<Uint8Array> {
  const content = typeof file === "string" ? await readFile(file) : file;
  if (content.byteLength > MOST_BYTES) {
    throw new RangeError(
      `artifact '${name}' has ${content.byteLength} bytes, and ${MOST_BYTES} is the most; store it elsewhere and return where`,
    );
  }
  return content;
}
