/** The page of a link to a question: what is asked, and two buttons. */
@NullMarked
package dev.holdfast.server.approval;

import org.jspecify.annotations.NullMarked;
