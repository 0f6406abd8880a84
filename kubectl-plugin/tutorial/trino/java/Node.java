import com.google.inject.Inject;
import com.google.inject.Module;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.server.PluginInstaller;
import io.trino.server.Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Node is a server of Trino, coordinator or worker by its configuration, with the TPC-H connector as its only plugin. */
public final class Node extends Server {
  public static void main(String[] args) throws IOException {
    // The server insists on a directory of plugins. The one that it has is on the class path.
    System.setProperty("plugin.dir", Files.createTempDirectory("plugins").toString());
    new Node().start("435");
  }

  @Override
  protected Iterable<? extends Module> getAdditionalModules() {
    return List.of(binder -> binder.bind(Plugins.class).asEagerSingleton());
  }

  private static final class Plugins {
    @Inject
    private Plugins(PluginInstaller installer) {
      installer.installPlugin(new TpchPlugin());
    }
  }
}
