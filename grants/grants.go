package grants

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"koordinator.sh/koord/decision/core/disclosure"
)

// mostOfKind bounds how often the API server is asked about one verb of one resource for one answer. What is not asked is not granted:
// permission to get any object, or any of a namespace, takes one question, and only callers with permissions for single objects may see
// fewer than they are allowed.
const mostOfKind = 24

// Grants are what one caller may do, for one answer. They are safe for concurrent use.
type Grants struct {
	ask func(disclosure.Request) (authorizer.Decision, error)

	mutex sync.Mutex
	known map[disclosure.Request]bool
	asked map[disclosure.Request]int
	err   error
}

// Of returns the grants of a caller. The authorizer should remember its decisions, as that which delegates to the API server does.
func Of(ctx context.Context, decide authorizer.Authorizer, caller user.Info) *Grants {
	return &Grants{
		known: map[disclosure.Request]bool{}, asked: map[disclosure.Request]int{},
		ask: func(r disclosure.Request) (authorizer.Decision, error) {
			decision, _, err := decide.Authorize(ctx, authorizer.AttributesRecord{
				User: caller, Verb: r.Verb, APIGroup: r.Group, APIVersion: "*", Resource: r.Resource, Namespace: r.Namespace, Name: r.Name, ResourceRequest: true,
			})
			return decision, err
		},
	}
}

// everything is granted to who runs the cluster.
var everything = disclosure.Request{Verb: "*", Group: "*", Resource: "*"}

// May reports whether a request is granted: by the right to everything, to the objects of all namespaces, to those of its namespace, or
// to the one object. The wider right is checked first, since it covers all narrower ones.
func (g *Grants) May(r disclosure.Request) bool {
	ofKind := disclosure.Request{Verb: r.Verb, Group: r.Group, Resource: r.Resource}
	ofNamespace := ofKind
	ofNamespace.Namespace = r.Namespace
	for _, wider := range []disclosure.Request{everything, ofKind, ofNamespace, r} {
		if g.granted(wider, ofKind) {
			return true
		}
	}
	return false
}

// granted asks about one request, once.
func (g *Grants) granted(r, kind disclosure.Request) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if granted, known := g.known[r]; known {
		return granted
	}
	if g.asked[kind]++; g.asked[kind] > mostOfKind {
		return false
	}
	decision, err := g.ask(r)
	if err != nil && g.err == nil {
		g.err = fmt.Errorf("check whether the user may %s: %w", r.Right(), err)
	}
	granted := err == nil && decision == authorizer.DecisionAllow
	g.known[r] = granted
	return granted
}

// Err is why a request could not be asked about, which counts as not granted; nil when all could.
func (g *Grants) Err() error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.err
}
