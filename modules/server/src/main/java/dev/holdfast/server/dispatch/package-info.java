/** Tasks that are pushed to workers. */
@NullMarked
package dev.holdfast.server.dispatch;

import org.jspecify.annotations.NullMarked;
