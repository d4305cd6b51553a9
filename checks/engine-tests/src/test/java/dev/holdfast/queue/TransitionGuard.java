package dev.holdfast.queue;

import dev.holdfast.model.job.JobState;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A trigger that is active in every test: it rejects any statement that makes a transition the
 * table of states does not allow, or lowers an attempt number, and counts the transitions.
 *
 * <p>It runs after the update. A trigger before the update would have the row locked and read again
 * first, which would hide every mistake with a row that a concurrent transaction changed.
 */
public final class TransitionGuard {
  /** Disables triggers, so that a test can put rows into any state. */
  public static final String DISABLE_TRIGGERS = "SET session_replication_role = replica";

  private TransitionGuard() {}

  public static String sql() {
    String allowed =
        Arrays.stream(JobState.values())
            .flatMap(from -> from.next().stream().map(to -> "'" + from + ">" + to + "'"))
            .collect(Collectors.joining(", "));
    return """
    CREATE TABLE public.seen (id uuid NOT NULL, transition text NOT NULL);
    CREATE FUNCTION public.watch() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF new.attempt < old.attempt THEN
        RAISE EXCEPTION 'the attempt fell from % to %', old.attempt, new.attempt;
      END IF;
      -- In a batch a job runs though its row says PENDING.
      IF old.state = 'PENDING' AND old.attempt = 0 AND new.state = 'SUCCEEDED'
         AND EXISTS (SELECT FROM holdfast.claim c WHERE old.id = ANY (c.job_ids)) THEN
        INSERT INTO public.seen VALUES (old.id, 'PENDING>RUNNING'), (old.id, 'RUNNING>SUCCEEDED');
      ELSIF new.state <> old.state THEN
        IF old.state || '>' || new.state NOT IN (ALLOWED) THEN
          RAISE EXCEPTION '% became %', old.state, new.state;
        END IF;
        INSERT INTO public.seen VALUES (old.id, old.state || '>' || new.state);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER watch AFTER UPDATE ON holdfast.job
      FOR EACH ROW EXECUTE FUNCTION public.watch();
    """
        .replace("ALLOWED", allowed);
  }
}
