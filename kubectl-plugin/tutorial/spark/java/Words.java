import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.Tuple2;

/** Words counts the words of generated texts, one job after the other, and says every second how many tasks were done so far. */
public final class Words {
  /** Partitions of a job: each is a task that counts, and a task that adds up what others counted. */
  private static final int PARTITIONS = 8;

  /** How many words a task counts, and how many different ones there are. */
  private static final int WORDS = 300_000;

  private static final int VOCABULARY = 2_000;

  public static void main(String[] args) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("words"))) {
      AtomicLong done = new AtomicLong();
      context.sc().addSparkListener(new SparkListener() {
        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
          if (end.taskInfo().successful()) {
            done.incrementAndGet();
          }
        }
      });
      Thread reports = new Thread(() -> report(done), "reports");
      reports.setDaemon(true);
      reports.start();
      for (long job = 1; ; job++) {
        count(context, job);
      }
    }
  }

  /** count runs one job, and fails unless it counted every word. */
  private static void count(JavaSparkContext context, long job) {
    List<Long> seeds = new ArrayList<>();
    for (long partition = 0; partition < PARTITIONS; partition++) {
      seeds.add(job * PARTITIONS + partition + 1);
    }
    long counted = context.parallelize(seeds, PARTITIONS)
        .flatMapToPair(seed -> words(seed).entrySet().stream().map(e -> new Tuple2<>(e.getKey(), e.getValue())).iterator())
        .reduceByKey(Long::sum, PARTITIONS)
        .values().reduce(Long::sum);
    if (counted != (long) PARTITIONS * WORDS) {
      throw new IllegalStateException("job " + job + " counted " + counted + " words");
    }
  }

  /** words counts the words of the text of a seed. */
  private static Map<String, Long> words(long seed) {
    Map<String, Long> counts = new HashMap<>();
    long state = seed * 0x9E3779B97F4A7C15L | 1;
    for (int i = 0; i < WORDS; i++) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
      counts.merge("word-" + Math.floorMod(state, VOCABULARY), 1L, Long::sum);
    }
    return counts;
  }

  private static void report(AtomicLong done) {
    try {
      while (true) {
        Thread.sleep(1000);
        System.out.println("tasks " + done.get());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
