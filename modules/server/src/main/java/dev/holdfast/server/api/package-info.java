/** The routes of clients and operators. */
@NullMarked
package dev.holdfast.server.api;

import org.jspecify.annotations.NullMarked;
