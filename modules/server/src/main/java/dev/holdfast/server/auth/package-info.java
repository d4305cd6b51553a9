/** Who calls: API keys, sessions, task tokens, hosts and origins. */
@NullMarked
package dev.holdfast.server.auth;

import org.jspecify.annotations.NullMarked;
