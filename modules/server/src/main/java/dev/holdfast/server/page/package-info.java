/** The page and the API reference, as files. */
@NullMarked
package dev.holdfast.server.page;

import org.jspecify.annotations.NullMarked;
