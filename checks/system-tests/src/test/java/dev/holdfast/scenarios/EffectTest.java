package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Durable
@ExtendWith(WorldExtension.class)
@OnlyWithRelease
class EffectTest {
  private static final int WORKERS = 3;
  private static final int KILLS = 6;

  @Test
  void an_effect_written_in_the_settling_transaction_happens_exactly_once_under_kills(World world) {
    Random random = new Random(42);
    List<ChildProcess> workers = new ArrayList<>(worker(world).start(WORKERS));
    Producer producer =
        Producer.start(world, () -> Job.of("effect", new ScenarioKinds.Work(40)).maxCrashes(1_000));
    for (int i = 0; i < KILLS; i++) {
      long effects = effects(world) + 10 + random.nextInt(40);
      Eventually.until(SOON, "jobs flow", () -> effects(world) >= effects);
      ChildProcess victim = workers.remove(random.nextInt(workers.size()));
      victim.signal("KILL");
      assertThat(victim.awaitExit(SOON)).isEqualTo(137);
      workers.add(worker(world).begin());
    }
    long jobs = producer.stop().size();

    world.awaitAll(jobs);
    assertThat(world.count("SELECT count(*) FROM holdfast.job")).isEqualTo(jobs);
    assertThat(effects(world)).isEqualTo(jobs);
    assertThat(world.count("SELECT count(DISTINCT job) FROM effect")).isEqualTo(jobs);
    assertThat(
            world.count(
                "SELECT count(*) FROM effect e"
                    + " JOIN holdfast.job j ON j.id = e.job AND j.attempt = e.attempt"))
        .describedAs("effects of the attempt that succeeded")
        .isEqualTo(jobs);
    assertThat(world.count("SELECT sum(crashes) FROM holdfast.job"))
        .describedAs("attempts cut off by a kill")
        .isPositive();
  }

  private static Launch worker(World world) {
    // So short that a machine that stands still costs some too: no effect may be lost by that.
    return world
        .worker("--concurrency", "5")
        .env("HEARTBEAT_INTERVAL_SEC", "0.5")
        .env("LEASE_TIMEOUT_SEC", "1.5");
  }

  private static long effects(World world) {
    return world.count("SELECT count(*) FROM effect");
  }
}
