// Package servicestest asks a provider as a client would, in tests.
package servicestest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/services"
)

// Nodes are nodes of a test.
type Nodes []fwk.NodeInfo

// Get implements services.Nodes.
func (n Nodes) Get(name string) (fwk.NodeInfo, error) {
	for _, info := range n {
		if info.Node().Name == name {
			return info, nil
		}
	}
	return nil, services.NotFound("cannot find node %s", name)
}

// List implements services.Nodes.
func (n Nodes) List() ([]fwk.NodeInfo, error) { return n, nil }

// Get asks a provider for a path below its own, and returns the status and the text of the answer.
func Get(t testing.TB, provider services.Provider, nodes Nodes, path string) (int, string) {
	t.Helper()
	yes := func() bool { return true }
	handler := services.NewHandler(services.Options{
		Providers: []services.Provider{provider}, Leads: yes, Ready: yes,
		Nodes: func(context.Context) (services.Nodes, error) { return nodes, nil },
	})
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, services.Base+"plugins/"+provider.Name()+"/"+path, nil))
	return answer.Code, answer.Body.String()
}
