// Package connectiontest is as much of an API server as a node's agent talks to: lists, watches, creations and merge patches, in
// memory, so that the agent's real clients are what is tested, also on a fake clock.
package connectiontest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Object is the JSON of an API object.
type Object = map[string]any

// Server keeps objects by the plural name of their resource. All methods may be called at the same time.
type Server struct {
	mu       sync.Mutex
	version  int
	objects  map[string]map[string]Object
	watchers map[chan event]string
	writes   map[string]int
	// refuse is the HTTP status that writes fail with, 0 for none.
	refuse int
	// away is true while nothing is answered; cut ends what is streamed when that begins.
	away bool
	cut  chan struct{}
	// asked counts requests by what they are and of which resource, those that were not answered too.
	asked map[string]int
}

type event struct {
	Type   string `json:"type"`
	Object Object `json:"object"`
}

// kinds that are served.
var kinds = map[string][2]string{
	"nodes": {"v1", "Node"}, "pods": {"v1", "Pod"},
	"nodemetrics": {"slo.koordinator.sh/v1alpha1", "NodeMetric"}, "nodeslos": {"slo.koordinator.sh/v1alpha1", "NodeSLO"},
	"noderesourcetopologies": {"topology.node.k8s.io/v1alpha1", "NodeResourceTopology"},
	"devices":                {"scheduling.koordinator.sh/v1alpha1", "Device"},
	"events":                 {"events.k8s.io/v1", "Event"},
}

// New returns a server without objects.
func New() *Server {
	return &Server{objects: map[string]map[string]Object{}, watchers: map[chan event]string{}, writes: map[string]int{}, cut: make(chan struct{}), asked: map[string]int{}}
}

// Config reaches the server.
func (s *Server) Config() *rest.Config { return &rest.Config{Host: "http://memory", Transport: s} }

// Put creates or replaces an object, given as a typed one, which must have a name.
func (s *Server) Put(resource string, typed any) error {
	encoded, err := json.Marshal(typed)
	if err != nil {
		return fmt.Errorf("encode an object of %s: %w", resource, err)
	}
	var o Object
	if err := json.Unmarshal(encoded, &o); err != nil {
		return fmt.Errorf("decode an object of %s: %w", resource, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(resource, o)
	return nil
}

// Read decodes an object, and is false when there is none.
func (s *Server) Read(resource, name string, into any) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, found := s.objects[resource][name]
	if !found {
		return false, nil
	}
	encoded, err := json.Marshal(o)
	if err != nil {
		return true, err
	}
	return true, json.Unmarshal(encoded, into)
}

// List decodes the objects of a resource, sorted by name, into a slice.
func (s *Server) List(resource string, into any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []Object{}
	for _, name := range slices.Sorted(maps.Keys(s.objects[resource])) {
		items = append(items, s.objects[resource][name])
	}
	encoded, err := json.Marshal(items)
	if err != nil {
		return fmt.Errorf("encode %s: %w", resource, err)
	}
	return json.Unmarshal(encoded, into)
}

// Writes counts the creations and patches of a resource that were taken.
func (s *Server) Writes(resource string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes[resource]
}

// Refuse has writes fail with an HTTP status, 0 for none.
func (s *Server) Refuse(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = status
}

// Away has the server break all connections and take none, until it is back.
func (s *Server) Away(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if away && !s.away {
		close(s.cut)
	}
	if !away && s.away {
		s.cut = make(chan struct{})
	}
	s.away = away
}

// Asked counts the requests for a resource, those that were not answered too: "list", also by a watch that begins with all objects,
// "watch", or "other".
func (s *Server) Asked(what, resource string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[what+" "+resource]
}

// reached counts a request, and reports whether it is answered.
func (s *Server) reached(r *http.Request) bool {
	what, resource := "other", path.Base(r.URL.Path)
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet || kinds[resource][1] == "":
	case query.Get("watch") != "" && query.Get("sendInitialEvents") != "true":
		what = "watch"
	default:
		what = "list"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[what+" "+resource]++
	return !s.away
}

func (s *Server) store(resource string, o Object) {
	s.version++
	meta := metadata(o)
	meta["resourceVersion"] = fmt.Sprint(s.version)
	o["apiVersion"], o["kind"] = kinds[resource][0], kinds[resource][1] // without them no event can be read
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]Object{}
	}
	name, _ := meta["name"].(string)
	change := "MODIFIED"
	if s.objects[resource][name] == nil {
		change = "ADDED"
	}
	s.objects[resource][name] = o
	for watcher, watched := range s.watchers {
		if watched == resource {
			select {
			case watcher <- event{Type: change, Object: o}:
			default: // a watcher that does not read gets no further events
			}
		}
	}
}

// metadata of an object, a copy: what watchers have stays as it is.
func metadata(o Object) Object {
	before, _ := o["metadata"].(Object)
	meta := maps.Clone(before)
	if meta == nil {
		meta = Object{}
	}
	o["metadata"] = meta
	return meta
}

func versionOf(o Object) string {
	meta, _ := o["metadata"].(Object)
	version, _ := meta["resourceVersion"].(string)
	return version
}

func (s *Server) serve(w *answer, r *http.Request) {
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := segments[len(segments)-1]
	switch {
	case len(segments) == 3 && segments[0] == "apis":
		s.resources(w, path.Join(segments[1:]...))
	case r.Method == http.MethodPost:
		s.write(w, r, last, "")
	case r.Method == http.MethodPatch && last == "status":
		s.write(w, r, segments[len(segments)-3], segments[len(segments)-2])
	case r.Method == http.MethodPatch:
		s.write(w, r, segments[len(segments)-2], last)
	case len(segments) > 1 && kinds[segments[len(segments)-2]][1] != "":
		s.get(w, segments[len(segments)-2], last)
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r, last)
	default:
		s.list(w, last)
	}
}

// resources answers with the resources that are served in a group.
func (s *Server) resources(w *answer, group string) {
	list := []Object{}
	for resource, kind := range kinds {
		if kind[0] == group {
			list = append(list, Object{"name": resource, "kind": kind[1]})
		}
	}
	w.send(http.StatusOK, Object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": list})
}

// write creates an object, or patches the named one.
func (s *Server) write(w *answer, r *http.Request, resource, name string) {
	body, err := decode(r)
	if err != nil {
		w.fail(http.StatusBadRequest, "BadRequest")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.objects[resource][name]
	switch {
	case s.refuse != 0:
		w.fail(s.refuse, "InternalError")
		return
	case name != "" && current == nil:
		w.fail(http.StatusNotFound, "NotFound")
		return
	}
	if name != "" {
		body, _ = Merge(current, body).(Object)
	}
	s.writes[resource]++
	s.store(resource, body)
	w.send(http.StatusOK, body)
}

// decode returns the object in a request, which is protobuf where a client prefers that.
func decode(r *http.Request) (Object, error) {
	content, err := io.ReadAll(r.Body)
	if err == nil && r.Header.Get("Content-Type") == runtime.ContentTypeProtobuf {
		var typed runtime.Object
		if typed, _, err = scheme.Codecs.UniversalDeserializer().Decode(content, nil, nil); err == nil {
			content, err = json.Marshal(typed)
		}
	}
	if err != nil {
		return nil, err
	}
	var out Object
	return out, json.Unmarshal(content, &out)
}

// Merge applies a JSON merge patch, RFC 7386. The target stays as it is.
func Merge(target, patch any) any {
	fields, is := patch.(Object)
	if !is {
		return patch
	}
	old, _ := target.(Object)
	result := maps.Clone(old)
	if result == nil {
		result = Object{}
	}
	for name, value := range fields {
		if value == nil {
			delete(result, name)
			continue
		}
		result[name] = Merge(result[name], value)
	}
	return result
}

func (s *Server) get(w *answer, resource, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[resource][name]
	if o == nil {
		w.fail(http.StatusNotFound, "NotFound")
		return
	}
	kind := kinds[resource]
	o = maps.Clone(o)
	o["apiVersion"], o["kind"] = kind[0], kind[1]
	w.send(http.StatusOK, o)
}

func (s *Server) list(w *answer, resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []Object{}
	for _, o := range s.objects[resource] {
		items = append(items, o)
	}
	kind := kinds[resource]
	w.send(http.StatusOK, Object{
		"apiVersion": kind[0], "kind": kind[1] + "List", "items": items, "metadata": Object{"resourceVersion": strconv.Itoa(s.version)},
	})
}

// watch sends all objects first, and then every change, until the request ends.
func (s *Server) watch(w *answer, r *http.Request, resource string) {
	events := make(chan event, 1000)
	kind := kinds[resource]
	s.mu.Lock()
	known, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	for _, o := range s.objects[resource] {
		if version, _ := strconv.Atoi(versionOf(o)); version > known {
			events <- event{Type: "ADDED", Object: o}
		}
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		events <- event{Type: "BOOKMARK", Object: Object{
			"apiVersion": kind[0], "kind": kind[1],
			"metadata": Object{"resourceVersion": strconv.Itoa(s.version), "annotations": Object{"k8s.io/initial-events-end": "true"}},
		}}
	}
	s.watchers[events] = resource
	cut := s.cut
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, events)
	}()
	w.begin(http.StatusOK)
	encoder := json.NewEncoder(w.body)
	for {
		select {
		case <-r.Context().Done():
			return
		case <-cut:
			return
		case e := <-events:
			if encoder.Encode(e) != nil {
				return
			}
		}
	}
}
