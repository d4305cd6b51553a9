/** Periodic tasks, and the database's clock. */
@NullMarked
package dev.holdfast.server.background;

import org.jspecify.annotations.NullMarked;
