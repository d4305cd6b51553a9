/**
 * The schema, its migrations, and the check that a worker can use the database it was given.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release; except {@link
 * dev.holdfast.queue.schema.Migrations}.
 */
@NullMarked
package dev.holdfast.queue.schema;

import org.jspecify.annotations.NullMarked;
