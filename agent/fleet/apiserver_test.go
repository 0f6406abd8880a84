package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/agent/connection/connectiontest"
)

// object is the JSON of an API object.
type object = connectiontest.Object

// apiServer is as much of an API server as a fleet talks to: lists, watches and merge patches over HTTP, so that the
// fleet's real clients are what is tested. It can be stopped and started again on the same port.
type apiServer struct {
	t       *testing.T
	address string
	server  *httptest.Server
	// stopping ends the watches; without it a client that reconnects while the server closes would keep it open.
	stopping chan struct{}

	mu       sync.Mutex
	version  int
	objects  map[string]map[string]object
	watchers map[chan event]string
	// patches counts reports by node; refuse makes them fail with this HTTP status, and refused counts those.
	patches         map[string]int
	refuse, refused int
	// refuseTopologies makes that many writes of topologies fail with HTTP status 500; topologyWrites counts those that
	// succeeded, by node.
	refuseTopologies int
	topologyWrites   map[string]int
}

type event struct {
	Type   string `json:"type"`
	Object object `json:"object"`
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{t: t, address: "127.0.0.1:0", objects: map[string]map[string]object{}, watchers: map[chan event]string{}, patches: map[string]int{}, topologyWrites: map[string]int{}}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *apiServer) start() {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = listener.Addr().String()
	stopping := make(chan struct{})
	s.stopping = stopping
	s.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, stopping)
	})}}
	s.server.Start()
}

func (s *apiServer) stop() {
	close(s.stopping)
	s.server.CloseClientConnections()
	s.server.Close()
}

func (s *apiServer) config() *rest.Config { return &rest.Config{Host: "http://" + s.address} }

// put creates or replaces an object, given as a typed one.
func (s *apiServer) put(resource string, typed any) {
	s.t.Helper()
	encoded, err := json.Marshal(typed)
	if err != nil {
		s.t.Fatal(err)
	}
	var o object
	if err := json.Unmarshal(encoded, &o); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(resource, o)
}

func (s *apiServer) store(resource string, o object) {
	o = s.next(o)
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]object{}
	}
	kind := "MODIFIED"
	if s.objects[resource][keyOf(o)] == nil {
		kind = "ADDED"
	}
	s.objects[resource][keyOf(o)] = o
	s.tell(resource, event{Type: kind, Object: o})
}

func (s *apiServer) remove(resource, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.next(s.objects[resource][key])
	delete(s.objects[resource], key)
	s.tell(resource, event{Type: "DELETED", Object: o})
}

// next is an object under the next version. It is a copy: watchers may still be sending what it was, or what it has parts of.
func (s *apiServer) next(o object) object {
	s.version++
	o, meta := maps.Clone(o), maps.Clone(o["metadata"].(object))
	meta["resourceVersion"] = fmt.Sprint(s.version)
	o["metadata"] = meta
	return o
}

func (s *apiServer) tell(resource string, e event) {
	for watcher, watched := range s.watchers {
		if watched == resource {
			watcher <- e
		}
	}
}

func keyOf(o object) string {
	meta := o["metadata"].(object)
	namespace, _ := meta["namespace"].(string)
	return namespace + "/" + meta["name"].(string)
}

// read decodes an object into what the test wants of it.
func (s *apiServer) read(resource, key string, into any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	encoded, _ := json.Marshal(s.objects[resource][key])
	if err := json.Unmarshal(encoded, into); err != nil {
		s.t.Error(err)
	}
}

// refusing sets the HTTP status that reports fail with, 0 for none.
func (s *apiServer) refusing(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = status
}

func (s *apiServer) refusals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

func (s *apiServer) reportsOf(node string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.patches[node]
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request, stopping <-chan struct{}) {
	w.Header().Set("Content-Type", "application/json")
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/apis/slo.koordinator.sh/v1alpha1":
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"slo.koordinator.sh/v1alpha1","resources":[{"name":"nodemetrics","kind":"NodeMetric"}]}`)
	case r.URL.Path == "/apis/topology.node.k8s.io/v1alpha1":
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"topology.node.k8s.io/v1alpha1","resources":[{"name":"noderesourcetopologies","kind":"NodeResourceTopology"}]}`)
	case r.Method == http.MethodPost:
		s.writeTopology(w, r, nil)
	case r.Method == http.MethodPatch && path[len(path)-2] == topologyResource:
		s.writeTopology(w, r, &path[len(path)-1])
	case r.Method == http.MethodPatch && path[len(path)-1] == "status":
		s.patch(w, r, path[len(path)-2])
	case kinds[path[len(path)-2]][1] != "":
		s.get(w, path[len(path)-2], path[len(path)-1])
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r, path[len(path)-1], stopping)
	default:
		s.list(w, r, path[len(path)-1])
	}
}

func (s *apiServer) patch(w http.ResponseWriter, r *http.Request, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != 0 {
		s.refused++
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure"}`, s.refuse)
		return
	}
	current := s.objects["nodemetrics"]["/"+node]
	if current == nil {
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`, http.StatusNotFound)
		return
	}
	var patch object
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
		s.t.Error(err)
	}
	s.patches[node]++
	s.store("nodemetrics", connectiontest.Merge(current, patch).(object))
	fmt.Fprint(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"}`)
}

func (s *apiServer) selected(r *http.Request, o object) bool {
	labelled, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		s.t.Error(err)
		return false
	}
	fielded, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		s.t.Error(err)
		return false
	}
	set, found := labels.Set{}, fields.Set{}
	meta := o["metadata"].(object)
	if own, ok := meta["labels"].(object); ok {
		for name, value := range own {
			set[name] = value.(string)
		}
	}
	if spec, ok := o["spec"].(object); ok {
		found["spec.nodeName"], _ = spec["nodeName"].(string)
	}
	if status, ok := o["status"].(object); ok {
		found["status.phase"], _ = status["phase"].(string)
	}
	return labelled.Matches(set) && fielded.Matches(found)
}

var kinds = map[string][2]string{
	"nodes": {"v1", "Node"}, "pods": {"v1", "Pod"}, "nodemetrics": {"slo.koordinator.sh/v1alpha1", "NodeMetric"},
	"nodeslos":       {"slo.koordinator.sh/v1alpha1", "NodeSLO"},
	topologyResource: {"topology.node.k8s.io/v1alpha1", "NodeResourceTopology"},
}

// get answers with an object that is in no namespace.
func (s *apiServer) get(w http.ResponseWriter, resource, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[resource]["/"+name]
	if o == nil {
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`, http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(o)
}

func (s *apiServer) list(w http.ResponseWriter, r *http.Request, resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []object{}
	for _, o := range s.objects[resource] {
		if s.selected(r, o) {
			items = append(items, o)
		}
	}
	kind := kinds[resource]
	_ = json.NewEncoder(w).Encode(object{
		"apiVersion": kind[0], "kind": kind[1] + "List", "items": items, "metadata": object{"resourceVersion": fmt.Sprint(s.version)},
	})
}

// watch sends all objects first when it is asked to, else those that changed since the version that the watcher knows, and
// then every change.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, resource string, stopping <-chan struct{}) {
	events := make(chan event, 10000)
	kind := kinds[resource]
	s.mu.Lock()
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, o := range s.objects[resource] {
			events <- event{Type: "ADDED", Object: o}
		}
		events <- event{Type: "BOOKMARK", Object: object{
			"apiVersion": kind[0], "kind": kind[1],
			"metadata": object{"resourceVersion": fmt.Sprint(s.version), "annotations": object{"k8s.io/initial-events-end": "true"}},
		}}
	} else {
		known, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
		for _, o := range s.objects[resource] {
			version, _ := strconv.Atoi(o["metadata"].(object)["resourceVersion"].(string))
			if version > known {
				events <- event{Type: "ADDED", Object: o}
			}
		}
	}
	s.watchers[events] = resource
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, events)
	}()
	w.(http.Flusher).Flush()
	encoder := json.NewEncoder(w)
	for {
		select {
		case <-r.Context().Done():
			return
		case <-stopping:
			return
		case e := <-events:
			if e.Type != "BOOKMARK" && !s.selected(r, e.Object) {
				continue
			}
			if encoder.Encode(e) != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}
