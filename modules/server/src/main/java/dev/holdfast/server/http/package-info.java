/** What the web server needs, and answers: nothing here knows a route. */
@NullMarked
package dev.holdfast.server.http;

import org.jspecify.annotations.NullMarked;
