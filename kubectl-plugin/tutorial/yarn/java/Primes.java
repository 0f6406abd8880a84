import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.PreemptionMessage;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdatedContainer;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.async.AMRMClientAsync;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Primes is a YARN application that counts primes from a thousand million on, in pieces, each of which is the work of one container. What a
 * piece has counted, it tells its master after every step, so that a piece whose container was killed goes on in another one.
 *
 *   Primes submit RESOURCE_MANAGER   submits it, and prints its ID
 *   Primes master                    is its application master
 *   Primes piece MASTER FIRST END    counts the primes from FIRST to END, without END
 */
public final class Primes {
  /** Where the first piece begins, and how many numbers a piece and a step have. */
  private static final int FIRST = 1_000_000_000;

  private static final int PIECE = 600_000;
  private static final int STEP = 10_000;

  /** How many containers are asked for, beside that of the master. */
  private static final int CONTAINERS = 12;

  private static final int MEMORY_MB = 256;

  /** What containers of this application run. The configuration and the jars are where those of the NodeManager are. */
  private static final String JAVA = "$JAVA_HOME/bin/java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData "
      + "--add-opens=java.base/java.lang=ALL-UNNAMED -cp '/etc/hadoop-yarn:/opt/jars/*' Primes ";

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "submit" -> submit(args[1]);
      case "master" -> new Master().run();
      default -> count(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]));
    }
  }

  private static ContainerLaunchContext launch(String command) {
    return ContainerLaunchContext.newInstance(Map.of(), Map.of(), List.of(JAVA + command + " 1>out 2>err"), Map.of(), null, Map.of());
  }

  private static void submit(String resourceManager) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    conf.set(YarnConfiguration.RM_ADDRESS, resourceManager);
    YarnClient client = YarnClient.createYarnClient();
    client.init(conf);
    client.start();
    ApplicationSubmissionContext context = client.createApplication().getApplicationSubmissionContext();
    context.setApplicationName("primes");
    context.setResource(Resource.newInstance(MEMORY_MB, 1));
    context.setMaxAppAttempts(1);
    context.setAMContainerSpec(launch("master"));
    client.submitApplication(context);
    System.out.println("submitted " + context.getApplicationId());
    client.stop();
  }

  /** count counts the primes of a piece, and tells the master of each step. */
  private static void count(String master, int first, int end) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (int from = first; from < end; from += STEP) {
      int found = 0;
      for (int number = from; number < from + STEP; number++) {
        found += isPrime(number) ? 1 : 0;
      }
      HttpRequest told = HttpRequest.newBuilder(URI.create("http://" + master + "/counted?" + from + "," + found)).build();
      if (client.send(told, HttpResponse.BodyHandlers.discarding()).statusCode() != 200) {
        throw new IllegalStateException("the master does not want what was counted from " + from);
      }
    }
  }

  private static boolean isPrime(int number) {
    if (number % 2 == 0) {
      return number == 2;
    }
    for (int divisor = 3; divisor <= number / divisor; divisor += 2) {
      if (number % divisor == 0) {
        return false;
      }
    }
    return number > 1;
  }

  /** Master has containers count pieces, one after the other, until it is asked to finish. */
  private static final class Master extends AMRMClientAsync.AbstractCallbackHandler {
    /** Where pieces that have begun and not ended go on, by where they end. */
    private final Map<Integer, Integer> begun = new HashMap<>();

    /** Ends of pieces that were begun, and have no container. */
    private final Deque<Integer> interrupted = new ArrayDeque<>();

    /** Ends of the pieces of containers. */
    private final Map<ContainerId, Integer> running = new HashMap<>();

    private final Deque<ContainerRequest> asked = new ArrayDeque<>();
    private int end = FIRST;
    private int numbers;
    private int primes;
    private int killed;
    private final Set<ContainerId> warned = new HashSet<>();
    private boolean finishing;
    private String address;
    private AMRMClientAsync<ContainerRequest> manager;
    private NMClient nodes;

    void run() throws Exception {
      String host = InetAddress.getLocalHost().getHostAddress();
      if (System.getenv("NM_HOST") != null) {
        host = InetAddress.getByName(System.getenv("NM_HOST")).getHostAddress();
      }
      HttpServer server = HttpServer.create(new InetSocketAddress(host, 0), 0);
      address = host + ":" + server.getAddress().getPort();
      server.setExecutor(Executors.newCachedThreadPool());
      server.createContext("/", exchange -> {
        String answer = answer(exchange.getRequestURI());
        byte[] body = answer.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.isEmpty() ? 409 : 200, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
      });
      server.start();
      YarnConfiguration conf = new YarnConfiguration();
      nodes = NMClient.createNMClient();
      nodes.init(conf);
      nodes.start();
      manager = AMRMClientAsync.createAMRMClientAsync(500, this);
      manager.init(conf);
      manager.start();
      manager.registerApplicationMaster(host, server.getAddress().getPort(), "");
      String summary;
      synchronized (this) {
        while (!finishing || !begun.isEmpty()) {
          ask();
          wait();
        }
        summary = state();
      }
      manager.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, summary, null);
      manager.stop();
      nodes.stop();
      System.exit(0); // the HTTP server has threads
    }

    /** answer is empty where what was counted is not wanted: the container was thought dead, or the step is known. */
    private synchronized String answer(URI asked) {
      if (asked.getPath().equals("/counted")) {
        String[] told = asked.getQuery().split(",");
        int from = Integer.parseInt(told[0]);
        int pieceEnd = from - Math.floorMod(from - FIRST, PIECE) + PIECE;
        if (!Integer.valueOf(from).equals(begun.get(pieceEnd))) {
          return "";
        }
        begun.put(pieceEnd, from + STEP);
        numbers += STEP;
        primes += Integer.parseInt(told[1]);
        if (from + STEP == pieceEnd) {
          begun.remove(pieceEnd);
          notifyAll();
        }
      } else if (asked.getPath().equals("/finish")) {
        finishing = true;
        notifyAll();
      }
      return state();
    }

    private String state() {
      return "{\"first\":" + FIRST + ",\"end\":" + end + ",\"numbers\":" + numbers + ",\"primes\":" + primes + ",\"containers\":"
          + running.size() + ",\"killed\":" + killed + ",\"warned\":" + warned.size() + "}";
    }

    /** ask asks for as many containers as there is work for. */
    private void ask() {
      int wanted = finishing ? Math.min(interrupted.size(), CONTAINERS) : CONTAINERS - running.size();
      while (asked.size() < wanted) {
        asked.add(new ContainerRequest(Resource.newInstance(MEMORY_MB, 1), null, null, Priority.newInstance(1)));
        manager.addContainerRequest(asked.getLast());
      }
      while (asked.size() > wanted) {
        manager.removeContainerRequest(asked.removeLast());
      }
    }

    @Override
    public synchronized void onContainersAllocated(List<Container> allocated) {
      for (Container container : allocated) {
        if (!asked.isEmpty()) {
          manager.removeContainerRequest(asked.removeLast());
        }
        if (interrupted.isEmpty() && (finishing || running.size() >= CONTAINERS)) {
          manager.releaseAssignedContainer(container.getId());
          continue;
        }
        if (interrupted.isEmpty()) {
          begun.put(end + PIECE, end);
          end += PIECE;
          interrupted.add(end);
        }
        int pieceEnd = interrupted.remove();
        running.put(container.getId(), pieceEnd);
        try {
          nodes.startContainer(container, launch("piece " + address + " " + begun.get(pieceEnd) + " " + pieceEnd));
        } catch (Exception e) {
          System.err.println("start " + container.getId() + ": " + e);
          manager.releaseAssignedContainer(container.getId()); // it is completed then
        }
      }
      notifyAll();
    }

    @Override
    public synchronized void onContainersCompleted(List<ContainerStatus> statuses) {
      for (ContainerStatus status : statuses) {
        Integer pieceEnd = running.remove(status.getContainerId());
        if (pieceEnd != null && begun.containsKey(pieceEnd)) {
          System.err.println("completed " + status);
          killed++;
          interrupted.add(pieceEnd);
        }
      }
      notifyAll();
    }

    @Override
    public synchronized void onPreemptionMessageReceived(PreemptionMessage message) {
      if (message.getStrictContract() != null) {
        message.getStrictContract().getContainers().forEach(container -> warned.add(container.getId()));
      }
      if (message.getContract() != null) {
        message.getContract().getContainers().forEach(container -> warned.add(container.getId()));
      }
    }

    @Override public void onContainersUpdated(List<UpdatedContainer> containers) {}
    @Override public void onNodesUpdated(List<NodeReport> nodes) {}
    @Override public void onShutdownRequest() { System.exit(1); }
    @Override public void onError(Throwable e) { e.printStackTrace(); System.exit(1); }
    @Override public float getProgress() { return 0; }
  }
}
