package yarn_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"koordinator.sh/koord/bridge/hadoop/ipc"
	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/test/engines"
	realyarn "koordinator.sh/koord/test/engines/yarn"
	"koordinator.sh/koord/test/eventually"
)

var update = flag.Bool("update", false, "record the responses of the ResourceManager that the tests of bridge/yarn read")

const clientProtocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"

func only(t *testing.T, client *yarn.Client) yarn.Node {
	t.Helper()
	nodes, err := client.Nodes(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("Nodes() = %v, %v; want one", nodes, err)
	}
	return nodes[0]
}

func resize(t *testing.T, client *yarn.Client, id yarn.NodeID, to yarn.Resource, timeout time.Duration) {
	t.Helper()
	if err := client.Update(t.Context(), []yarn.Change{{Node: id, Capability: to, TimeoutMillis: int32(timeout.Milliseconds())}}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the ResourceManager applies the capability", func() bool { return only(t, client).Capability == to })
}

// TestTheRealResourceManager: the client reads and changes it, authenticates with a token, and a deadline spares containers that end in
// time, after a warning, as docs/third-party-schedulers.md says.
func TestTheRealResourceManager(t *testing.T) {
	engines.Require(t, "java", "javac", "mvn")
	cluster := realyarn.Start(t)
	id := cluster.StartNodeManager(t, yarn.Resource{VCores: 2, MiB: 2048})
	client := cluster.Connect(t)
	if got := only(t, client); got.ID != id || got.State != yarn.StateRunning || got.Capability != (yarn.Resource{VCores: 2, MiB: 2048}) {
		t.Errorf("the node is %+v", got)
	}
	record(t, cluster)
	t.Run("says the same by its REST API", func(t *testing.T) { compare(t, cluster, id) })
	t.Run("authenticates a caller by a token", func(t *testing.T) { authenticate(t, cluster.Client) })
	t.Run("warns before it kills", func(t *testing.T) { sparedForAMinute(t, cluster, id) })
	t.Run("kills after the deadline", func(t *testing.T) { killedAfterASecond(t, cluster, id) })
}

// killedAfterASecond shrinks a node below what its containers use, with a deadline of a second.
func killedAfterASecond(t *testing.T, cluster *realyarn.Cluster, id yarn.NodeID) {
	client := cluster.Connect(t)
	resize(t, client, id, yarn.Resource{VCores: 4, MiB: 4096}, 30*time.Second)
	job := cluster.Submit(t, 3, 256, "sleep 12")
	eventually.True(t, "all containers run", func() bool { return only(t, client).Containers == 4 })
	resize(t, client, id, yarn.Resource{VCores: 2, MiB: 4096}, time.Second)
	// A node that is being resized is shown without containers for an instant.
	eventually.True(t, "containers are killed", func() bool { n := only(t, client).Containers; return n == 1 || n == 2 })
	resize(t, client, id, yarn.Resource{VCores: 4, MiB: 4096}, 30*time.Second)
	if got := job.Summary(t); !strings.Contains(got, "SUCCEEDED done=3 killed=2") {
		t.Errorf("the application ended with %q, want two killed and started again", got)
	}
}

// sparedForAMinute shrinks a node below what its containers use, with a deadline after they end.
func sparedForAMinute(t *testing.T, cluster *realyarn.Cluster, id yarn.NodeID) {
	client := cluster.Connect(t)
	resize(t, client, id, yarn.Resource{VCores: 4, MiB: 4096}, 30*time.Second)
	job := cluster.Submit(t, 3, 256, "sleep 8")
	eventually.True(t, "all containers run", func() bool { return only(t, client).Containers == 4 })
	if got := only(t, client).Used; got.VCores != 4 {
		t.Errorf("4 containers use %+v", got)
	}
	resize(t, client, id, yarn.Resource{VCores: 2, MiB: 4096}, time.Minute)
	if got := job.Summary(t); !strings.Contains(got, "SUCCEEDED done=3 killed=0") || strings.Contains(got, "warned=0") {
		t.Errorf("the application ended with %q, want all done, some warned of, and none killed", got)
	}
}

// TestAResourceManagerWhoseClockIsAhead keeps the deadlines that it is told, because they are durations.
func TestAResourceManagerWhoseClockIsAhead(t *testing.T) {
	engines.Require(t, "java", "javac", "mvn", "faketime")
	cluster := realyarn.StartAhead(t, time.Hour)
	id := cluster.StartNodeManager(t, yarn.Resource{VCores: 2, MiB: 2048})
	response, err := http.Get("http://" + cluster.Web + "/ws/v1/cluster/info") //nolint:noctx // it answers at once
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		ClusterInfo struct{ StartedOn int64 }
	}
	if err := errors.Join(json.NewDecoder(response.Body).Decode(&said), response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(time.UnixMilli(said.ClusterInfo.StartedOn)); ahead < 50*time.Minute {
		t.Fatalf("the ResourceManager says that it started %v from now", ahead)
	}
	t.Run("warns before it kills", func(t *testing.T) { sparedForAMinute(t, cluster, id) })
	t.Run("kills after the deadline", func(t *testing.T) { killedAfterASecond(t, cluster, id) })
}

// authenticate gets a delegation token, and reads the nodes with it.
func authenticate(t *testing.T, address string) {
	plain := ipc.NewClient(ipc.Options{Address: address, Protocol: clientProtocol, User: "root"})
	defer plain.Close()
	token, response := newToken(t, plain)
	if token.Kind != yarn.TokenKind {
		t.Errorf("the token is a %s", token.Kind)
	}
	held := func(token *ipc.Token) func() (*ipc.Token, error) {
		return func() (*ipc.Token, error) { return token, nil }
	}
	authenticated := ipc.NewClient(ipc.Options{Address: address, Protocol: clientProtocol, Token: held(token)})
	defer authenticated.Close()
	if _, err := authenticated.Call(t.Context(), "getClusterNodes", nil); err != nil {
		t.Errorf("read the nodes with a token: %v", err)
	}
	forged := *token
	forged.Password = []byte("guessed")
	stranger := ipc.NewClient(ipc.Options{Address: address, Protocol: clientProtocol, Token: held(&forged)})
	defer stranger.Close()
	if _, err := stranger.Call(t.Context(), "getClusterNodes", nil); err == nil {
		t.Error("a forged token is taken")
	}
	file := token
	renewing := ipc.NewClient(ipc.Options{Address: address, Protocol: clientProtocol, Token: func() (*ipc.Token, error) { return file, nil }})
	defer renewing.Close()
	// The response is a message with a token in it, as the request is.
	if _, err := plain.Call(t.Context(), "cancelDelegationToken", response); err != nil {
		t.Fatal(err)
	}
	if _, err := renewing.Call(t.Context(), "getClusterNodes", nil); err == nil || !strings.Contains(err.Error(), "InvalidToken") {
		t.Errorf("a token that is no longer valid is refused with %v", err)
	}
	file, _ = newToken(t, plain)
	if _, err := renewing.Call(t.Context(), "getClusterNodes", nil); err != nil {
		t.Errorf("read the nodes after the token was renewed: %v", err)
	}
}

// compare reads and changes the node by the REST API.
func compare(t *testing.T, cluster *realyarn.Cluster, id yarn.NodeID) {
	rest, rpc := cluster.ConnectREST(t), cluster.Connect(t)
	nodes, err := rest.Nodes(t.Context())
	if diff := cmp.Diff([]yarn.Node{only(t, rpc)}, nodes); diff != "" || err != nil {
		t.Errorf("Nodes() by REST (-by RPC +by REST):\n%s, %v", diff, err)
	}
	if pending, err := rest.Pending(t.Context()); pending != (yarn.Resource{}) || err != nil {
		t.Errorf("Pending() by REST = %+v, %v", pending, err)
	}
	to := yarn.Resource{VCores: 3, MiB: 3000}
	if err := rest.Update(t.Context(), []yarn.Change{{Node: id, Capability: to, TimeoutMillis: 1000}}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the ResourceManager applies the capability", func() bool { return only(t, rpc).Capability == to })
	unknown := []yarn.Change{{Node: yarn.NodeID{Host: "none", Port: 1}, Capability: to, TimeoutMillis: 1000}}
	if err := rest.Update(t.Context(), unknown); err == nil || !strings.Contains(err.Error(), "nodeId, none:1, is not found") {
		t.Errorf("Update() of an unknown node by REST = %v", err)
	}
}

// record writes what the ResourceManager answers, for tests that run without it.
func record(t *testing.T, cluster *realyarn.Cluster) {
	if !*update {
		return
	}
	testdata := filepath.Join("..", "..", "..", "bridge", "yarn", "testdata")
	for _, path := range []string{"info", "nodes", "metrics"} {
		response, err := http.Get("http://" + cluster.Web + "/ws/v1/cluster/" + path) //nolint:noctx // only to record
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close(), os.WriteFile(filepath.Join(testdata, path+".json"), content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	client := ipc.NewClient(ipc.Options{Address: cluster.Client, Protocol: clientProtocol, User: "root"})
	defer client.Close()
	root := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "root")
	for method, request := range map[string][]byte{"getClusterNodes": nil, "getQueueInfo": root} {
		response, err := client.Call(t.Context(), method, request)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(testdata, method+".bin"), response, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// newToken has the ResourceManager issue a token, and returns its response, too.
func newToken(t *testing.T, client *ipc.Client) (token *ipc.Token, response []byte) {
	t.Helper()
	response, err := client.Call(t.Context(), "getDelegationToken", protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "root"))
	if err != nil {
		t.Fatal(err)
	}
	if err := ipc.Fields(response, func(_ protowire.Number, value ipc.Value) { token, err = ipc.ParseToken(value.Bytes) }); err != nil || token == nil {
		t.Fatalf("read the token: %v", err)
	}
	return token, response
}
