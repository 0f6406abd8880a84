import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Entrypoint is what the containers of Spark begin with: as the script of Spark's own images, it starts a driver or an executor, by the
 * first argument and the environment that Spark gives its pods.
 */
public final class Entrypoint {
  public static void main(String[] args) throws Exception {
    Map<String, String> environment = System.getenv();
    for (int i = 0; environment.containsKey("SPARK_JAVA_OPT_" + i); i++) {
      define(environment.get("SPARK_JAVA_OPT_" + i));
    }
    if (args.length > 0 && args[0].equals("driver")) {
      driver(environment, Arrays.asList(args).subList(1, args.length));
    } else if (args.length > 0 && args[0].equals("executor")) {
      executor(environment);
    } else {
      throw new IllegalArgumentException("the first argument must be driver or executor");
    }
  }

  /** define sets a property; other options of the virtual machine come too late. */
  private static void define(String option) {
    if (option.startsWith("-D")) {
      String[] parts = option.substring(2).split("=", 2);
      System.setProperty(parts[0], parts.length > 1 ? parts[1] : "");
    }
  }

  /** driver is found by its address: where there is no DNS, the name of its Service says nothing. */
  private static void driver(Map<String, String> environment, List<String> rest) throws Exception {
    String address = environment.get("SPARK_DRIVER_BIND_ADDRESS");
    List<String> args = new ArrayList<>(List.of(
        "--conf", "spark.driver.bindAddress=" + address, "--conf", "spark.driver.host=" + address, "--deploy-mode", "client"));
    args.addAll(rest);
    org.apache.spark.deploy.SparkSubmit.main(args.toArray(new String[0]));
  }

  private static void executor(Map<String, String> environment) {
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend.main(new String[] {
      "--driver-url", environment.get("SPARK_DRIVER_URL"), "--executor-id", environment.get("SPARK_EXECUTOR_ID"),
      "--cores", environment.get("SPARK_EXECUTOR_CORES"), "--app-id", environment.get("SPARK_APPLICATION_ID"),
      "--hostname", environment.get("SPARK_EXECUTOR_POD_IP"), "--resourceProfileId", environment.get("SPARK_RESOURCE_PROFILE_ID"),
      "--podName", environment.get("SPARK_EXECUTOR_POD_NAME"),
    });
  }
}
