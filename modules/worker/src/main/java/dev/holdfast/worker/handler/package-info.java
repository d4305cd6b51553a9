/**
 * What a handler implements, and what it is given. {@link dev.holdfast.worker.handler.Attachment}
 * and {@link dev.holdfast.worker.handler.JobSteps} are for modules that build on handlers, such as
 * programs and workspaces.
 */
@NullMarked
package dev.holdfast.worker.handler;

import org.jspecify.annotations.NullMarked;
