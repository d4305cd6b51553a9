/** Requests and answers, below any route. */
@NullMarked
package dev.holdfast.server.http;

import org.jspecify.annotations.NullMarked;
