/** The configuration of a server. */
@NullMarked
package dev.holdfast.server.config;

import org.jspecify.annotations.NullMarked;
