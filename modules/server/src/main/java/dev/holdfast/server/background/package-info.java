/** What a server does at intervals. */
@NullMarked
package dev.holdfast.server.background;

import org.jspecify.annotations.NullMarked;
