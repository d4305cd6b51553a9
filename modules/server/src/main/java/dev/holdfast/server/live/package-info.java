/** Live changes for the page: one poll of the database for all subscribers. */
@NullMarked
package dev.holdfast.server.live;

import org.jspecify.annotations.NullMarked;
