/** Notices: signed webhooks that tell others of the questions that jobs ask. */
@NullMarked
package dev.holdfast.server.notice;

import org.jspecify.annotations.NullMarked;
