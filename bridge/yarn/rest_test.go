package yarn_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/bridge/yarn"
)

// answers serves what a ResourceManager answered.
func answers(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func recordedAnswer(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func connectREST(t *testing.T, urls ...string) *yarn.RESTClient {
	t.Helper()
	cluster := yarn.Cluster{Name: yarn.DefaultCluster}
	for _, url := range urls {
		cluster.ResourceManagers = append(cluster.ResourceManagers, yarn.Addresses{Web: url})
	}
	client := yarn.NewRESTClient(cluster, yarn.RESTOptions{User: "yarn", Timeout: 2 * time.Second})
	t.Cleanup(client.Close)
	return client
}

func TestNodesAreReadAndChangedByREST(t *testing.T) {
	var posted string
	rm := answers(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body) // an empty one fails below
			posted = r.URL.EscapedPath() + "?" + r.URL.RawQuery + " " + string(body)
			return
		}
		_, _ = w.Write(recordedAnswer(t, filepath.Base(r.URL.Path))) // the client would complain
	})
	client := connectREST(t, rm)
	nodes, err := client.Nodes(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("Nodes() = %+v, %v", nodes, err)
	}
	want := yarn.Node{ID: nodes[0].ID, HTTPAddress: nodes[0].HTTPAddress, State: yarn.StateRunning, Capability: yarn.Resource{VCores: 2, MiB: 2048}}
	if diff := cmp.Diff(want, nodes[0]); diff != "" || nodes[0].ID.Host != "localhost" {
		t.Errorf("Nodes() (-want +got):\n%s", diff)
	}
	if pending, err := client.Pending(t.Context()); pending != (yarn.Resource{}) || err != nil {
		t.Errorf("Pending() = %+v, %v", pending, err)
	}
	change := yarn.Change{Node: yarn.NodeID{Host: "a", Port: 8041}, Capability: yarn.Resource{VCores: 2, MiB: 1024}, TimeoutMillis: 30000}
	if err := client.Update(t.Context(), []yarn.Change{change}); err != nil {
		t.Fatal(err)
	}
	wantPosted := `/ws/v1/cluster/nodes/a:8041/resource?user.name=yarn {"overCommitTimeout":30000,"resource":{"memory":1024,"vCores":2}}`
	if posted != wantPosted {
		t.Errorf("posted %s, want %s", posted, wantPosted)
	}
}

// TestANodeThatDoesNotSayItsTotal has what it uses and what is free, which is below zero while it shrinks.
func TestANodeThatDoesNotSayItsTotal(t *testing.T) {
	rm := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"nodes":{"node":[{"id":"a:1","state":"RUNNING","usedMemoryMB":3072,"availMemoryMB":-1024,"usedVirtualCores":3,"availableVirtualCores":-1}]}}`))
	})
	nodes, err := connectREST(t, rm).Nodes(t.Context())
	want := []yarn.Node{{ID: yarn.NodeID{Host: "a", Port: 1}, State: yarn.StateRunning, Used: yarn.Resource{VCores: 3, MiB: 3072}, Capability: yarn.Resource{VCores: 2, MiB: 2048}}}
	if diff := cmp.Diff(want, nodes); diff != "" || err != nil {
		t.Errorf("Nodes() (-want +got):\n%s, %v", diff, err)
	}
}

// TestTheActiveResourceManagerIsFoundByREST: a standby redirects, which is not followed.
func TestTheActiveResourceManagerIsFoundByREST(t *testing.T) {
	var active atomic.Int32
	var elsewhere atomic.Int32
	other := answers(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	manager := func(index int32) string {
		return answers(t, func(w http.ResponseWriter, r *http.Request) {
			is := active.Load() == index
			switch {
			case strings.HasSuffix(r.URL.Path, "/info"):
				state := map[bool]string{true: "ACTIVE", false: "STANDBY"}[is]
				_, _ = fmt.Fprintf(w, `{"clusterInfo":{"haState":%q}}`, state) // the client would complain
			case is:
				_, _ = w.Write(recordedAnswer(t, "nodes")) // likewise
			default:
				http.Redirect(w, r, other, http.StatusTemporaryRedirect)
			}
		})
	}
	client := connectREST(t, manager(0), manager(1))
	for _, now := range []int32{1, 0, 1} {
		active.Store(now)
		if nodes, err := client.Nodes(t.Context()); err != nil || len(nodes) != 1 {
			t.Errorf("Nodes() with %d active = %+v, %v", now, nodes, err)
		}
	}
	active.Store(2)
	if _, err := client.Nodes(t.Context()); err == nil || !strings.Contains(err.Error(), "none says that it is active") {
		t.Errorf("Nodes() with none active = %v", err)
	}
	if elsewhere.Load() > 0 {
		t.Error("a redirection was followed")
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	tests := map[string]struct {
		handler http.HandlerFunc
		wantErr string
	}{
		"a web page": {handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>This is standby RM")) }, wantErr: "invalid character"},
		"a refusal": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"RemoteException":{"message":"User x does not have permission"}}`))
		}, wantErr: "403 Forbidden: User x does not have permission"},
		"an error without a message": {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, wantErr: "500 Internal Server Error"},
		"a node without an ID": {handler: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"nodes":{"node":[{"state":"RUNNING"}]}}`))
		}, wantErr: "want HOST:PORT"},
		"no end": {handler: func(w http.ResponseWriter, _ *http.Request) {
			block := make([]byte, 1<<20)
			for range 80 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, wantErr: "larger than 64 MiB"},
		"nothing": {handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, wantErr: "Client.Timeout exceeded"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := connectREST(t, answers(t, test.handler)).Nodes(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("Nodes() = %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestCheckWeb(t *testing.T) {
	clusters := []yarn.Cluster{{Name: "big", ResourceManagers: []yarn.Addresses{{ID: "rm1", Web: "http://one:8088"}, {ID: "rm2"}}}}
	if err := yarn.CheckWeb(clusters); err == nil || !strings.Contains(err.Error(), `cluster "big": the web server of ResourceManager "rm2" is not known`) {
		t.Errorf("CheckWeb() = %v", err)
	}
	if err := yarn.CheckWeb(clusters[:0]); err != nil {
		t.Errorf("CheckWeb() of none = %v", err)
	}
}
