/** What the page sees change: one poll of the database for all who watch. */
@NullMarked
package dev.holdfast.server.live;

import org.jspecify.annotations.NullMarked;
