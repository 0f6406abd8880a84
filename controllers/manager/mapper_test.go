package manager

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

func TestTheMapperWaitsForAnAPIServer(t *testing.T) {
	var well atomic.Bool
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if !well.Load() {
			panic(http.ErrAbortHandler) // the connection ends without an answer, as one to an API server that is killed
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis":
			_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]}]}`)
		case "/apis/apps/v1":
			_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get"]}]}`)
		default:
			_, _ = io.WriteString(w, `{"kind":"APIVersions","versions":[]}`)
		}
	}))
	t.Cleanup(server.Close)
	mapper, err := newPatientMapper(t.Context())(&rest.Config{Host: server.URL}, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		mapping *meta.RESTMapping
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "v1")
		answered <- answer{mapping, err}
	}()
	for deadline := time.Now().Add(30 * time.Second); asked.Load() == 0; { // it was away when it was asked
		if time.Now().After(deadline) {
			t.Fatal("the API server is not asked")
		}
		select {
		case got := <-answered:
			t.Fatalf("it did not wait: %v", got.err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	well.Store(true)
	select {
	case got := <-answered:
		if got.err != nil || got.mapping.Resource.Resource != "deployments" {
			t.Errorf("mapping %v, %v; want deployments", got.mapping, got.err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it waits although the API server answers")
	}
	if _, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Nothing"}, "v1"); !meta.IsNoMatchError(err) {
		t.Errorf("a kind that is not served: %v", err)
	}
}
