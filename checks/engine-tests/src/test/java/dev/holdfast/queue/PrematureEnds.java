package dev.holdfast.queue;

import dev.holdfast.testkit.TestDatabase;

/** Has a trigger record each attempt that is ended while the given condition holds. */
public record PrematureEnds(TestDatabase db) implements AutoCloseable {
  /**
   * @param tooEarly of the OLD and the NEW row of a job that was running
   */
  public static PrematureEnds watch(TestDatabase db, String tooEarly) {
    db.sql(
        """
        CREATE TABLE public.early (id uuid);
        CREATE FUNCTION public.ended_early() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO public.early VALUES (OLD.id);
          RETURN NULL;
        END $$;
        CREATE TRIGGER early AFTER UPDATE ON holdfast.job
          FOR EACH ROW WHEN (OLD.state = 'RUNNING' AND %s)
          EXECUTE FUNCTION public.ended_early();
        """
            .formatted(tooEarly));
    return new PrematureEnds(db);
  }

  public long count() {
    return db.count("SELECT count(*) FROM public.early");
  }

  @Override
  public void close() {
    db.sql("DROP FUNCTION public.ended_early() CASCADE; DROP TABLE public.early");
  }
}
