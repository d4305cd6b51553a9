/**
 * SQL that several verbs share: each rule of the queue that is written in SQL is here once.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.sql;

import org.jspecify.annotations.NullMarked;
