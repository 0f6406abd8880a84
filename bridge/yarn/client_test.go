package yarn_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"koordinator.sh/koord/bridge/hadoop/ipc"
	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/bridge/yarn/resourcemanagersim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *resourcemanagersim.ResourceManager {
	t.Helper()
	rm, err := resourcemanagersim.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rm.Close)
	return rm
}

func connect(t *testing.T, managers ...*resourcemanagersim.ResourceManager) *yarn.Client {
	t.Helper()
	cluster := yarn.Cluster{Name: yarn.DefaultCluster}
	for i, rm := range managers {
		cluster.ResourceManagers = append(cluster.ResourceManagers, rm.Addresses([]string{"rm1", "rm2"}[i]))
	}
	client := yarn.NewClient(cluster, yarn.Caller{User: "yarn"}, 5*time.Second)
	t.Cleanup(client.Close)
	return client
}

var nodeA = yarn.Node{
	ID: yarn.NodeID{Host: "a", Port: 8041}, State: yarn.StateRunning, Used: yarn.Resource{VCores: 1, MiB: 1024},
	Capability: yarn.Resource{VCores: 4, MiB: 8192}, Containers: 1, HTTPAddress: "a:8042",
}

func TestNodesAreReadAndChanged(t *testing.T) {
	rm := start(t)
	rm.SetNode(nodeA)
	rm.SetPending(yarn.Resource{VCores: 3, MiB: 3072})
	client := connect(t, rm)
	nodes, err := client.Nodes(t.Context())
	if diff := cmp.Diff([]yarn.Node{nodeA}, nodes); err != nil || diff != "" {
		t.Fatalf("Nodes(), %v (-want +got):\n%s", err, diff)
	}
	if pending, err := client.Pending(t.Context()); err != nil || pending != (yarn.Resource{VCores: 3, MiB: 3072}) {
		t.Errorf("Pending() = %+v, %v", pending, err)
	}
	want := yarn.Change{Node: nodeA.ID, Capability: yarn.Resource{VCores: 2, MiB: 2048}, TimeoutMillis: 30}
	if err := client.Update(t.Context(), []yarn.Change{want}); err != nil {
		t.Fatal(err)
	}
	if got := rm.Changes(); len(got) != 1 || got[0].Change != want {
		t.Errorf("received %+v, want %+v", got, want)
	}
	if got := rm.Node("a:8041").Capability; got != want.Capability {
		t.Errorf("capability = %+v", got)
	}
	err = client.Update(t.Context(), []yarn.Change{{Node: yarn.NodeID{Host: "b", Port: 1}}})
	if err == nil || !strings.Contains(err.Error(), "unrecognized node: b:1") || strings.Contains(err.Error(), "Thread.run") {
		t.Errorf("Update() of an unknown node = %v, want the exception without its stack", err)
	}
}

// TestTheActiveResourceManagerIsFound: when the first is a standby, goes away, and comes back as a standby.
func TestTheActiveResourceManagerIsFound(t *testing.T) {
	one, two := start(t), start(t)
	one.SetStandby(true)
	two.SetNode(nodeA)
	client := connect(t, one, two)
	if nodes, err := client.Nodes(t.Context()); err != nil || len(nodes) != 1 {
		t.Fatalf("Nodes() beside a standby = %v, %v", nodes, err)
	}
	one.SetNode(nodeA)
	one.SetStandby(false)
	two.SetStandby(true)
	if err := client.Update(t.Context(), []yarn.Change{{Node: nodeA.ID, TimeoutMillis: 1}}); err != nil || len(one.Changes()) != 1 {
		t.Fatalf("Update() after a failover = %v, received %v", err, one.Changes())
	}
	one.Close()
	if _, err := client.Nodes(t.Context()); err == nil || !strings.Contains(err.Error(), "none says that it is active") {
		t.Errorf("Nodes() without an active one = %v", err)
	}
	two.SetStandby(false)
	if nodes, err := client.Nodes(t.Context()); err != nil || len(nodes) != 1 {
		t.Errorf("Nodes() after the second became active = %v, %v", nodes, err)
	}
}

// TestServersThatAreNoneOfHadoop end no process and hold no call up beyond its time.
func TestServersThatAreNoneOfHadoop(t *testing.T) {
	tests := map[string]struct {
		answer  string
		wantErr string
	}{
		"a web server":               {"HTTP/1.1 400 Bad Request\r\n\r\n", "may not be one of Hadoop"},
		"an empty frame":             {"\x00\x00\x00\x00", "read a message"},
		"a header that is cut off":   {"\x00\x00\x00\x02\x05\x01", "read a message"},
		"a length that is a lie":     {"\x07\xff\xff\xff\x01", "read a frame"},
		"nothing":                    {"", "deadline"},
		"a response to another call": {"\x00\x00\x00\x06\x04\x08\x63\x10\x00\x00", "the response is to call 99"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer func() { _ = conn.Close() }()
				_, _ = conn.Write([]byte(test.answer))
				_, _ = io.Copy(io.Discard, conn) // until the client has given up
			}()
			client := ipc.NewClient(ipc.Options{Address: listener.Addr().String(), Protocol: "p", Timeout: 200 * time.Millisecond})
			if _, err := client.Call(t.Context(), "m", nil); err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("Call() = %v, want %q", err, test.wantErr)
			}
			client.Close()
			_ = listener.Close()
			<-ended
		})
	}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := ipc.NewClient(ipc.Options{Address: listener.Addr().String()})
	defer client.Close()
	if _, err := client.Call(ctx, "m", nil); err == nil {
		t.Error("Call() with a cancelled context succeeded")
	}
}

func TestLoadClusters(t *testing.T) {
	const ha = `<configuration><property><name>yarn.resourcemanager.ha.enabled</name><value>true</value></property>
<property><name>yarn.resourcemanager.ha.rm-ids</name><value>rm1, rm2</value></property>
<property><name>yarn.resourcemanager.hostname.rm1</name><value>one</value></property>
<property><name>yarn.resourcemanager.address.rm2</name><value>two:1</value></property>
<property><name>yarn.resourcemanager.admin.address.rm2</name><value>${two}:2</value></property>
<property><name>two</name><value>zwei</value></property></configuration>`
	tests := map[string]struct {
		files   map[string]string
		want    []yarn.Cluster
		wantErr string
	}{
		"one, by its host": {
			files: map[string]string{"yarn-site.xml": `<configuration><property><name>yarn.resourcemanager.hostname</name><value>rm</value></property></configuration>`},
			want:  []yarn.Cluster{{Name: yarn.DefaultCluster, MilliCPUPerVCore: 1000, ResourceManagers: []yarn.Addresses{{Client: "rm:8032", Admin: "rm:8033", Web: "http://rm:8088"}}}},
		},
		"two, of another cluster": {
			files: map[string]string{"big.yarn-site.xml": ha},
			want: []yarn.Cluster{{Name: "big", MilliCPUPerVCore: 1000, ResourceManagers: []yarn.Addresses{
				{ID: "rm1", Client: "one:8032", Admin: "one:8033", Web: "http://one:8088"}, {ID: "rm2", Client: "two:1", Admin: "zwei:2"}}}},
		},
		"with three vcores in a core": {
			files: map[string]string{"yarn-site.xml": `<configuration><property><name>yarn.resourcemanager.hostname</name><value>rm</value></property>
<property><name>yarn.nodemanager.resource.pcores-vcores-multiplier</name><value>3.0</value></property></configuration>`},
			want: []yarn.Cluster{{Name: yarn.DefaultCluster, MilliCPUPerVCore: 334, ResourceManagers: []yarn.Addresses{{Client: "rm:8032", Admin: "rm:8033", Web: "http://rm:8088"}}}},
		},
		"with no vcores in a core": {
			files: map[string]string{"yarn-site.xml": `<configuration><property><name>yarn.resourcemanager.hostname</name><value>rm</value></property>
<property><name>yarn.nodemanager.resource.pcores-vcores-multiplier</name><value>0</value></property></configuration>`},
			wantErr: `yarn.nodemanager.resource.pcores-vcores-multiplier is "0"; want a number between 0.01 and 100`,
		},
		"with TLS": {
			files: map[string]string{"yarn-site.xml": `<configuration><property><name>yarn.resourcemanager.hostname</name><value>rm</value></property>
<property><name>yarn.http.policy</name><value>HTTPS_ONLY</value></property></configuration>`},
			want: []yarn.Cluster{{Name: yarn.DefaultCluster, MilliCPUPerVCore: 1000, ResourceManagers: []yarn.Addresses{{Client: "rm:8032", Admin: "rm:8033", Web: "https://rm:8090"}}}},
		},
		"what core-site.xml makes final": {
			files: map[string]string{
				"core-site.xml": `<configuration><property><name>yarn.resourcemanager.hostname</name><value>fixed</value><final>true</final></property></configuration>`,
				"yarn-site.xml": `<configuration><property><name>yarn.resourcemanager.hostname</name><value>other</value></property></configuration>`},
			want: []yarn.Cluster{{Name: yarn.DefaultCluster, MilliCPUPerVCore: 1000, ResourceManagers: []yarn.Addresses{{Client: "fixed:8032", Admin: "fixed:8033", Web: "http://fixed:8088"}}}},
		},
		"none":           {wantErr: "there is no yarn-site.xml"},
		"no address":     {files: map[string]string{"yarn-site.xml": `<configuration/>`}, wantErr: "yarn.resourcemanager.address is not set"},
		"not XML":        {files: map[string]string{"yarn-site.xml": `{}`}, wantErr: `"yarn-site.xml"`},
		"HA without IDs": {files: map[string]string{"yarn-site.xml": strings.Replace(ha, "rm1, rm2", "", 1)}, wantErr: "rm-ids"},
		"a URL":          {files: map[string]string{"yarn-site.xml": strings.Replace(ha, "two:1", "http://two", 1)}, wantErr: "HOST:PORT"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			for name, content := range test.files {
				if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := yarn.LoadClusters(directory)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("LoadClusters() = %v, want %q", err, test.wantErr)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("LoadClusters(), %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
