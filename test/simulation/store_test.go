package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// object is one version of an object. It is never changed.
type object struct {
	kind    kind
	key     string
	content map[string]any
	encoded []byte
}

func (o *object) meta() map[string]any {
	meta, _ := o.content["metadata"].(map[string]any)
	return meta
}

func (o *object) text(field string) string {
	text, _ := o.meta()[field].(string)
	return text
}

// into decodes an object.
func into[T any](o *object) *T {
	typed := new(T)
	if err := json.Unmarshal(o.encoded, typed); err != nil {
		panic(fmt.Sprintf("the store holds %s %s that nobody can read: %v", o.kind.resource, o.key, err))
	}
	return typed
}

// store is what the API server keeps. Its watches receive every change, in order. It is safe for concurrent use.
type store struct {
	mutex    sync.Mutex
	revision uint64
	uids     uint64
	objects  map[kind]map[string]*object
	watches  []*watch
	// changes since oldest, for watches that begin in the past.
	changes []change
	oldest  uint64
	// lastPlaced is the revision at which a pod came, went or got a node last, or a Reservation changed.
	lastPlaced uint64
	// skew is how far the clocks of everybody else are ahead of the schedulers'.
	skew time.Duration
}

// now is the time by the clocks of everybody but the schedulers.
func (s *store) now() time.Time { return time.Now().Add(s.skew) }

// change is one step of the history.
type change struct {
	revision      uint64
	before, after *object
	gone          bool
}

func newStore() *store {
	return &store{revision: 1000, oldest: 1000, objects: map[kind]map[string]*object{}}
}

func (s *store) get(k kind, key string) *object {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.objects[k][key]
}

// list returns the objects of a kind by their keys.
func (s *store) list(k kind) []*object {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.listed(k)
}

func (s *store) listed(k kind) []*object {
	keys := slices.Sorted(maps.Keys(s.objects[k]))
	out := make([]*object, len(keys))
	for i, key := range keys {
		out[i] = s.objects[k][key]
	}
	return out
}

// put stores the next version of an object; before is nil for a new one.
func (s *store) put(k kind, key string, content map[string]any) *object {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before := s.objects[k][key]
	if before != nil && reflect.DeepEqual(before.content, content) {
		return before // as the API server does
	}
	s.revision++
	meta := content["metadata"].(map[string]any)
	meta["resourceVersion"] = strconv.FormatUint(s.revision, 10)
	if before == nil {
		s.uids++
		meta["uid"] = fmt.Sprintf("uid-%04d", s.uids)
		meta["generation"] = 1.0
	} else if !reflect.DeepEqual(before.content["spec"], content["spec"]) {
		generation, _ := meta["generation"].(float64)
		meta["generation"] = generation + 1
	}
	after := s.encode(k, key, content)
	if s.objects[k] == nil {
		s.objects[k] = map[string]*object{}
	}
	s.objects[k][key] = after
	s.tell(before, after, false)
	return after
}

func (s *store) encode(k kind, key string, content map[string]any) *object {
	content["kind"], content["apiVersion"] = k.name, k.apiVersion()
	encoded, err := json.Marshal(content)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return &object{kind: k, key: key, content: content, encoded: encoded}
}

// remove deletes an object.
func (s *store) remove(k kind, key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before := s.objects[k][key]
	if before == nil {
		return
	}
	s.revision++
	delete(s.objects[k], key)
	last := copied(before.content)
	last["metadata"].(map[string]any)["resourceVersion"] = strconv.FormatUint(s.revision, 10)
	s.tell(before, s.encode(k, key, last), true)
}

func (s *store) tell(before, after *object, gone bool) {
	if after.kind == reservationKind || after.kind == podKind && (gone || nodeOf(before) != nodeOf(after)) {
		s.lastPlaced = s.revision
	}
	s.changes = append(s.changes, change{s.revision, before, after, gone})
	for _, w := range s.watches {
		if w.kind == after.kind {
			w.changed(before, after, gone)
		}
	}
}

// nodeOf is the node of a pod; it distinguishes a pod that does not exist from one without a node.
func nodeOf(pod *object) any {
	if pod == nil {
		return nil
	}
	spec, _ := pod.content["spec"].(map[string]any)
	node, _ := spec["nodeName"].(string)
	return node
}

// recall sends to a watch what happened since a revision; false when that is forgotten.
func (s *store) recall(w *watch, since uint64) bool {
	if since < s.oldest {
		return false
	}
	for _, c := range s.changes {
		if c.revision > since && c.after.kind == w.kind {
			w.changed(c.before, c.after, c.gone)
		}
	}
	return true
}

// forget drops the history, so that a watch that was broken cannot be taken up again.
func (s *store) forget() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.changes, s.oldest = nil, s.revision
}

// open returns the watches of a client that are not over, in the order of their kinds.
func (s *store) open(client string) []*watch {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.watches = slices.DeleteFunc(s.watches, (*watch).over)
	var found []*watch
	for _, w := range s.watches {
		if w.client == client {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, func(a, b *watch) int { return strings.Compare(a.kind.resource, b.kind.resource) })
	return found
}

// copied is a deep copy of decoded JSON.
func copied(content map[string]any) map[string]any {
	out := make(map[string]any, len(content))
	for key, value := range content {
		out[key] = copiedValue(value)
	}
	return out
}

func copiedValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return copied(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = copiedValue(value[i])
		}
		return out
	}
	return value
}

// selector is which objects of a kind a client asks for.
type selector struct {
	fields fields.Selector
	labels labels.Selector
}

func (s selector) matches(o *object) bool {
	if o == nil {
		return false
	}
	if !s.labels.Empty() {
		found := labels.Set{}
		set, _ := o.meta()["labels"].(map[string]any)
		for key, value := range set {
			found[key], _ = value.(string)
		}
		if !s.labels.Matches(found) {
			return false
		}
	}
	if s.fields.Empty() {
		return true
	}
	spec, _ := o.content["spec"].(map[string]any)
	status, _ := o.content["status"].(map[string]any)
	node, _ := spec["nodeName"].(string)
	phase, _ := status["phase"].(string)
	return s.fields.Matches(fields.Set{"metadata.name": o.text("name"), "metadata.namespace": o.text("namespace"), "spec.nodeName": node, "status.phase": phase})
}
