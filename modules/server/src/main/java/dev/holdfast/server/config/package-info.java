/** What a server is told about itself. */
@NullMarked
package dev.holdfast.server.config;

import org.jspecify.annotations.NullMarked;
