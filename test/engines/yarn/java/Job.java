import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
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
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.client.api.async.AMRMClientAsync;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * A YARN application for tests: N containers that run a command each, started again when they are killed.
 *
 *   Job submit CONTAINERS MEMORY_MB COMMAND AM_COMMAND   submits it, prints its ID, and its final state in the end
 *   Job am CONTAINERS MEMORY_MB COMMAND                  is its application master
 */
public final class Job {
  private Job() {}

  public static void main(String[] args) throws Exception {
    if (args[0].equals("submit")) {
      submit(Integer.parseInt(args[1]), Integer.parseInt(args[2]), args[3], args[4]);
    } else {
      new Master(Integer.parseInt(args[1]), Integer.parseInt(args[2]), args[3]).run();
    }
  }

  private static void submit(int containers, int memory, String command, String amCommand) throws Exception {
    YarnClient client = YarnClient.createYarnClient();
    client.init(new YarnConfiguration());
    client.start();
    YarnClientApplication application = client.createApplication();
    ApplicationSubmissionContext context = application.getApplicationSubmissionContext();
    ApplicationId id = context.getApplicationId();
    context.setApplicationName("job");
    context.setResource(Resource.newInstance(256, 1));
    context.setMaxAppAttempts(1);
    String line = amCommand + " am " + containers + " " + memory + " '" + command + "' 1>am.out 2>am.err";
    context.setAMContainerSpec(ContainerLaunchContext.newInstance(
        Collections.emptyMap(), Map.of(), List.of(line), Map.of(), null, Map.of()));
    client.submitApplication(context);
    System.out.println("submitted " + id);
    while (true) {
      ApplicationReport report = client.getApplicationReport(id);
      switch (report.getYarnApplicationState()) {
        case FINISHED, FAILED, KILLED -> {
          System.out.println("ended " + report.getFinalApplicationStatus() + " " + report.getDiagnostics().replace('\n', ' '));
          client.stop();
          return;
        }
        default -> TimeUnit.MILLISECONDS.sleep(200);
      }
    }
  }

  /** Master asks for containers until all commands have ended well, and counts those that were killed and warned of. */
  private static final class Master extends AMRMClientAsync.AbstractCallbackHandler {
    private final int memory;
    private final String command;
    private final int containers;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger killed = new AtomicInteger();
    private final AtomicInteger warned = new AtomicInteger();
    private final AtomicBoolean stop = new AtomicBoolean();
    private AMRMClientAsync<ContainerRequest> manager;
    private NMClient nodes;

    Master(int containers, int memory, String command) {
      this.containers = containers;
      this.memory = memory;
      this.command = command;
    }

    void run() throws Exception {
      Configuration conf = new YarnConfiguration();
      nodes = NMClient.createNMClient();
      nodes.init(conf);
      nodes.start();
      manager = AMRMClientAsync.createAMRMClientAsync(100, this);
      manager.init(conf);
      manager.start();
      manager.registerApplicationMaster("", 0, "");
      for (int i = 0; i < containers; i++) {
        ask();
      }
      while (done.get() < containers && !stop.get()) {
        TimeUnit.MILLISECONDS.sleep(50);
      }
      String summary = "done=" + done + " killed=" + killed + " warned=" + warned;
      manager.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, summary, null);
      manager.stop();
      nodes.stop();
    }

    private void ask() {
      manager.addContainerRequest(new ContainerRequest(Resource.newInstance(memory, 1), null, null, Priority.newInstance(1)));
    }

    @Override
    public void onContainersAllocated(List<Container> allocated) {
      for (Container container : allocated) {
        manager.removeContainerRequest(
            new ContainerRequest(Resource.newInstance(memory, 1), null, null, Priority.newInstance(1)));
        try {
          nodes.startContainer(container, ContainerLaunchContext.newInstance(
              Map.of(), Map.of(), List.of(command + " 1>out 2>err"), Map.<String, ByteBuffer>of(), null, Map.of()));
        } catch (Exception e) {
          System.err.println("start " + container.getId() + ": " + e);
          manager.releaseAssignedContainer(container.getId());
          ask();
        }
      }
    }

    @Override
    public void onContainersCompleted(List<ContainerStatus> statuses) {
      for (ContainerStatus status : statuses) {
        System.err.println("completed " + status);
        if (status.getExitStatus() == 0) {
          done.incrementAndGet();
        } else {
          killed.incrementAndGet();
          ask();
        }
      }
    }

    @Override
    public void onPreemptionMessageReceived(PreemptionMessage message) {
      List<ContainerId> ids = new ArrayList<>();
      if (message.getStrictContract() != null) {
        message.getStrictContract().getContainers().forEach(c -> ids.add(c.getId()));
      }
      if (message.getContract() != null) {
        message.getContract().getContainers().forEach(c -> ids.add(c.getId()));
      }
      System.err.println("warned of " + ids);
      warned.addAndGet(ids.size());
    }

    @Override public void onContainersUpdated(List<UpdatedContainer> containers) {}
    @Override public void onNodesUpdated(List<NodeReport> nodes) {}
    @Override public void onShutdownRequest() { stop.set(true); }
    @Override public void onError(Throwable e) { e.printStackTrace(); stop.set(true); }
    @Override public float getProgress() { return containers == 0 ? 1 : (float) done.get() / containers; }
  }
}
