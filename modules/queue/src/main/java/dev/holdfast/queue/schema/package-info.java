/** The schema, its migrations, and the check that a worker can use the database it was given. */
@NullMarked
package dev.holdfast.queue.schema;

import org.jspecify.annotations.NullMarked;
