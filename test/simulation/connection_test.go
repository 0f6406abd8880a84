package simulation

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// call is a write that was sent to the API server, and waits there until its turn comes.
type call struct {
	client       string
	method, path string
	target       target
	sent         []byte
	patch        string
	answer       chan answer
	// given is true when the client does not wait for the answer.
	given atomic.Bool
}

func (c *call) String() string { return fmt.Sprintf("%s %s %s", c.client, c.method, c.target) }

type answer struct {
	code int
	body []byte
	err  error
}

// connection is how one client reaches the API server, without a network. Reads are answered at once, writes when the
// simulation lets them.
type connection struct {
	client string
	store  *store
	// prompt is true for clients whose watches are not held up.
	prompt bool
	dead   atomic.Bool

	mutex sync.Mutex
	calls []*call
}

var _ http.RoundTripper = &connection{}

func (c *connection) config() *rest.Config {
	return &rest.Config{Host: "http://simulated", Transport: c, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}}
}

var errRefused = fmt.Errorf("connection refused")

// RoundTrip implements RoundTripper.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.dead.Load() {
		return nil, errRefused
	}
	to, ok := targetOf(request.URL.Path)
	if !ok {
		return respond(request, failure(apierrors.NewGenericServerResponse(http.StatusNotFound, "", kindNone, request.URL.Path, "", 0, false))), nil
	}
	query := request.URL.Query()
	switch {
	case request.Method == http.MethodGet && query.Get("watch") != "":
		return c.watch(request, to)
	case request.Method == http.MethodGet:
		return respond(request, c.store.read(to, selectorOf(request))), nil
	}
	var sent []byte
	if request.Body != nil {
		var err error
		if sent, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	if to.kind.resource == "events" {
		return respond(request, answer{code: http.StatusCreated, body: sent}), nil
	}
	return c.write(request, &call{
		client: c.client, method: request.Method, path: request.URL.Path, target: to, sent: sent, patch: request.Header.Get("Content-Type"), answer: make(chan answer, 1),
	})
}

func (c *connection) write(request *http.Request, sent *call) (*http.Response, error) {
	c.mutex.Lock()
	c.calls = append(c.calls, sent)
	c.mutex.Unlock()
	select {
	case got := <-sent.answer:
		if got.err != nil {
			return nil, got.err
		}
		return respond(request, got), nil
	case <-request.Context().Done():
		sent.given.Store(true)
		return nil, request.Context().Err()
	}
}

// take returns the calls that arrived since it was asked last.
func (c *connection) take() []*call {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	taken := c.calls
	c.calls = nil
	return taken
}

func selectorOf(request *http.Request) selector {
	query := request.URL.Query()
	chosen := selector{fields: fields.Everything(), labels: labels.Everything()}
	if parsed, err := fields.ParseSelector(query.Get("fieldSelector")); err == nil {
		chosen.fields = parsed
	}
	if parsed, err := labels.Parse(query.Get("labelSelector")); err == nil {
		chosen.labels = parsed
	}
	return chosen
}

func respond(request *http.Request, a answer) *http.Response {
	return &http.Response{
		StatusCode: a.code, Status: http.StatusText(a.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": []string{"application/json"}}, Body: body(a.body), ContentLength: int64(len(a.body)),
	}
}

func failure(err *apierrors.StatusError) answer {
	status := err.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	encoded, _ := json.Marshal(status) // plain text and numbers
	return answer{code: int(status.Code), body: encoded}
}

// read answers a get or a list.
func (s *store) read(to target, chosen selector) answer {
	if to.name != "" {
		found := s.get(to.kind, to.key())
		if found == nil {
			return failure(apierrors.NewNotFound(groupResource(to.kind), to.name))
		}
		return answer{code: http.StatusOK, body: found.encoded}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	out := fmt.Appendf(nil, `{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"%d"},"items":[`, to.kind.name, to.kind.apiVersion(), s.revision)
	first := true
	for _, o := range s.listed(to.kind) {
		if !chosen.matches(o) || to.namespace != "" && o.text("namespace") != to.namespace {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		out, first = append(out, o.encoded...), false
	}
	return answer{code: http.StatusOK, body: append(out, `]}`...)}
}

// watch begins a watch with what happened since the revision that the client knows, or returns an error if that is too old. It
// does not list by itself, as API servers before 1.32 do not: a client puts such a list in the order of a map.
func (c *connection) watch(request *http.Request, to target) (*http.Response, error) {
	query := request.URL.Query()
	if query.Get("sendInitialEvents") != "" {
		return respond(request, failure(apierrors.NewInvalid(schema.GroupKind{}, "ListOptions", nil))), nil
	}
	w := newWatch(c.client, to.kind, selectorOf(request), c.prompt)
	c.store.mutex.Lock()
	defer c.store.mutex.Unlock()
	from, _ := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if !c.store.recall(w, from) {
		return respond(request, failure(apierrors.NewResourceExpired("too old resource version"))), nil
	}
	c.store.watches = append(c.store.watches, w)
	header := http.Header{"Content-Type": []string{"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Status: "OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request, Header: header, Body: w, ContentLength: -1}, nil
}
