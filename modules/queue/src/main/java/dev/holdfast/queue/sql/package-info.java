/** SQL that several verbs share: each rule of the queue that is said in SQL stands here once. */
@NullMarked
package dev.holdfast.queue.sql;

import org.jspecify.annotations.NullMarked;
