import type { Handler } from "./context.js";
import { FailedError } from "./errors.js";

/** What the schemas of zod, valibot, arktype and others have in common, see https://standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema makes of a payload. */
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** A handler of what the schema makes of the payload; one that does not fit is not tried again. */
export function validated(kind: string, schema: StandardSchema, handler: Handler): Handler {
  return async (payload: unknown, ctx) => {
    const result = await schema["~standard"].validate(payload);
    if (result.issues !== undefined) {
      const why = result.issues.map(shown).join("; ");
      throw new FailedError("DATA_QUALITY", "VALIDATION", `the payload does not fit '${kind}': ${why}`);
    }
    return handler(result.value, ctx);
  };
}

export function shown({ message, path = [] }: SchemaIssue): string {
  const where = path.map((one) => String(typeof one === "object" ? one.key : one)).join(".");
  return where === "" ? message : `${where}: ${message}`;
}
