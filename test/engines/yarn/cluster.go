// Package yarn starts a real YARN cluster for tests: a ResourceManager and NodeManagers, each a process on this machine.
package yarn

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/freeport"
)

// Cluster is a YARN cluster that runs until the end of its test.
type Cluster struct {
	// Conf is the configuration directory for clients.
	Conf string
	// Client and Admin are the addresses of the ResourceManager's services.
	Client, Admin string
	// Web is the address of its web server.
	Web  string
	jars string
	conf map[string]string
	// web are the addresses of the NodeManagers' web services.
	web map[yarn.NodeID]string
	// ahead is by how much the clocks of its processes are ahead.
	ahead time.Duration
}

// WebServices returns the address of a NodeManager's web services.
func (c *Cluster) WebServices(id yarn.NodeID) string { return c.web[id] }

// endWithin is how long a process may take to end before it is killed.
const endWithin = 10 * time.Second

// Start starts a ResourceManager.
func Start(t testing.TB) *Cluster {
	t.Helper()
	return StartAhead(t, 0)
}

// StartAhead starts a ResourceManager whose clock, like those of its NodeManagers, is ahead of that of this machine. It needs libfaketime.
func StartAhead(t testing.TB, ahead time.Duration) *Cluster {
	t.Helper()
	jars, err := project.Jars(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{jars: jars, Client: free(t), Admin: free(t), Web: free(t), web: map[yarn.NodeID]string{}, ahead: ahead}
	c.conf = map[string]string{
		"yarn.resourcemanager.address":                  c.Client,
		"yarn.resourcemanager.admin.address":            c.Admin,
		"yarn.resourcemanager.scheduler.address":        free(t),
		"yarn.resourcemanager.resource-tracker.address": free(t),
		"yarn.resourcemanager.webapp.address":           c.Web,
		"yarn.scheduler.minimum-allocation-mb":          "128",
	}
	c.Conf = c.write(t, c.conf)
	c.java(t, "ResourceManager", c.Conf, "384m", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
	client := c.Connect(t)
	eventually.True(t, "the ResourceManager answers", func() bool {
		_, err := client.Nodes(t.Context())
		return err == nil
	})
	return c
}

// Connect returns a client of the cluster that lives as long as the test.
func (c *Cluster) Connect(t testing.TB) *yarn.Client {
	client := yarn.NewClient(yarn.Cluster{Name: yarn.DefaultCluster, ResourceManagers: []yarn.Addresses{{Client: c.Client, Admin: c.Admin}}},
		yarn.Caller{User: "root"}, 5*time.Second)
	t.Cleanup(client.Close)
	return client
}

// ConnectREST returns a client of the cluster's REST API that lives as long as the test.
func (c *Cluster) ConnectREST(t testing.TB) *yarn.RESTClient {
	client := yarn.NewRESTClient(yarn.Cluster{Name: yarn.DefaultCluster, ResourceManagers: []yarn.Addresses{{Web: "http://" + c.Web}}},
		yarn.RESTOptions{User: "root", Timeout: 5 * time.Second})
	t.Cleanup(client.Close)
	return client
}

// StartNodeManager starts a NodeManager of a size, and returns its node ID once the ResourceManager knows it.
func (c *Cluster) StartNodeManager(t testing.TB, size yarn.Resource) yarn.NodeID {
	t.Helper()
	address, web, work := free(t), free(t), t.TempDir()
	conf := map[string]string{
		"yarn.nodemanager.address":                                                      address,
		"yarn.nodemanager.localizer.address":                                            free(t),
		"yarn.nodemanager.webapp.address":                                               web,
		"yarn.nodemanager.collector-service.address":                                    free(t),
		"yarn.nodemanager.resource.memory-mb":                                           strconv.FormatInt(size.MiB, 10),
		"yarn.nodemanager.resource.cpu-vcores":                                          strconv.FormatInt(size.VCores, 10),
		"yarn.nodemanager.local-dirs":                                                   filepath.Join(work, "local"),
		"yarn.nodemanager.log-dirs":                                                     filepath.Join(work, "logs"),
		"yarn.nodemanager.pmem-check-enabled":                                           "false",
		"yarn.nodemanager.vmem-check-enabled":                                           "false",
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
	}
	for name, value := range c.conf {
		conf[name] = value
	}
	c.java(t, "NodeManager", c.write(t, conf), "256m", "org.apache.hadoop.yarn.server.nodemanager.NodeManager")
	_, port, _ := net.SplitHostPort(address)
	client, found := c.Connect(t), yarn.NodeID{}
	eventually.True(t, "the NodeManager registers", func() bool {
		nodes, err := client.Nodes(t.Context())
		for _, node := range nodes {
			if strconv.Itoa(int(node.ID.Port)) == port {
				found = node.ID
			}
		}
		return err == nil && found.Port != 0
	})
	c.web[found] = web
	return found
}

// Submit runs Job, and returns what it prints once it has ended.
func (c *Cluster) Submit(t testing.TB, containers, memory int, command string) *Submitted {
	t.Helper()
	master := strings.Join(append([]string{"java"}, c.arguments(c.Conf, "64m", "Job")...), " ")
	s := &Submitted{}
	s.process = c.java(t, "Job", c.Conf, "64m", "Job", "submit", strconv.Itoa(containers), strconv.Itoa(memory), command, master)
	return s
}

// Submitted is an application that was submitted.
type Submitted struct{ process *process }

// Summary is the final state of the application: its status, and how many of its containers were done, killed and warned of.
func (s *Submitted) Summary(t testing.TB) (summary string) {
	t.Helper()
	eventually.True(t, "the application ends", func() bool {
		for line := range strings.Lines(s.process.output()) {
			if ended, is := strings.CutPrefix(line, "ended "); is {
				summary = strings.TrimSpace(ended)
			}
		}
		return summary != ""
	})
	return summary
}

// process is a program of Java.
type process struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(text)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (c *Cluster) arguments(conf, heap, class string) []string {
	return []string{"-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--add-opens=java.base/java.lang=ALL-UNNAMED",
		"-cp", conf + ":" + c.jars + "/*", class}
}

// java runs a class until the end of the test.
func (c *Cluster) java(t testing.TB, name, conf, heap, class string, args ...string) *process {
	t.Helper()
	p := &process{}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "java", append(c.arguments(conf, heap, class), args...)...)
	if c.ahead != 0 {
		// The loader puts the directory of the architecture in the place of $LIB. Java waits by the monotonic clock, which stays as it is; the
		// library's correction of such waits would end them at once.
		command.Env = append(os.Environ(), "LD_PRELOAD=/usr/$LIB/faketime/libfaketime.so.1", fmt.Sprintf("FAKETIME=%+d", int64(c.ahead.Seconds())),
			"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_FORCE_MONOTONIC_FIX=0")
	}
	command.Stdout, command.Stderr = p, p
	if err := command.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(func() {
		// A NodeManager that is killed at once leaves its containers.
		_ = command.Process.Signal(syscall.SIGTERM) // it may have ended
		kill := time.AfterFunc(endWithin, func() { _ = command.Process.Kill() })
		_ = command.Wait() // with the signal
		kill.Stop()
		if t.Failed() {
			lines := strings.Split(p.output(), "\n")
			t.Logf("%s:\n%s", name, strings.Join(lines[max(len(lines)-30, 0):], "\n"))
		}
	})
	return p
}

// write writes a configuration directory.
func (*Cluster) write(t testing.TB, properties map[string]string) string {
	t.Helper()
	directory, work := t.TempDir(), t.TempDir()
	files := map[string]map[string]string{
		"yarn-site.xml": properties,
		"core-site.xml": {"fs.defaultFS": "file:///", "hadoop.tmp.dir": work},
		"capacity-scheduler.xml": {
			"yarn.scheduler.capacity.root.queues":                 "default",
			"yarn.scheduler.capacity.root.default.capacity":       "100",
			"yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
			"yarn.scheduler.capacity.resource-calculator":         "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
		},
	}
	for name, values := range files {
		var b strings.Builder
		b.WriteString("<configuration>\n")
		for property, value := range values {
			fmt.Fprintf(&b, "  <property><name>%s</name><value>%s</value></property>\n", property, value)
		}
		b.WriteString("</configuration>\n")
		if err := os.WriteFile(filepath.Join(directory, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const logging = "log4j.rootLogger=INFO,o\nlog4j.appender.o=org.apache.log4j.ConsoleAppender\nlog4j.appender.o.layout=org.apache.log4j.PatternLayout\n" +
		"log4j.appender.o.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n\n"
	if err := os.WriteFile(filepath.Join(directory, "log4j.properties"), []byte(logging), 0o600); err != nil {
		t.Fatal(err)
	}
	return directory
}

// free is an address that nothing listens on.
func free(t testing.TB) string { return freeport.Address(freeport.Next(t)) }
