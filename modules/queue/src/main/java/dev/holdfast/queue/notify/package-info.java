/**
 * LISTEN and NOTIFY: wakes those who wait for work when there is some.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.notify;

import org.jspecify.annotations.NullMarked;
