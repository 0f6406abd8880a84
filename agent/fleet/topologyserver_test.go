package fleet

import (
	"encoding/json"
	"fmt"
	"net/http"

	"koordinator.sh/koord/agent/connection/connectiontest"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

const topologyResource = "noderesourcetopologies"

// writeTopology creates a topology, or patches the named one on condition of its version.
func (s *apiServer) writeTopology(w http.ResponseWriter, r *http.Request, name *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(status int, reason string) {
		http.Error(w, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, status), status)
	}
	var body object
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.t.Error(err)
	}
	meta := body["metadata"].(object)
	key := "/"
	if name != nil {
		key += *name
	} else {
		key = keyOf(body)
	}
	current := s.objects[topologyResource][key]
	switch {
	case s.refuseTopologies > 0:
		s.refuseTopologies--
		fail(http.StatusInternalServerError, "InternalError")
		return
	case name == nil && current != nil:
		fail(http.StatusConflict, "AlreadyExists")
		return
	case name != nil && current == nil:
		fail(http.StatusNotFound, "NotFound")
		return
	case name != nil && current["metadata"].(object)["resourceVersion"] != meta["resourceVersion"]:
		fail(http.StatusConflict, "Conflict")
		return
	case name != nil:
		body = connectiontest.Merge(current, body).(object)
	}
	s.topologyWrites[key[1:]]++
	s.store(topologyResource, body)
	fmt.Fprint(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"}`)
}

// topologyOf returns a node's topology, nil when there is none, and how often it was written.
func (s *apiServer) topologyOf(node string) (topology *topologyv1alpha1.NodeResourceTopology, writes int) {
	s.read(topologyResource, "/"+node, &topology)
	s.mu.Lock()
	defer s.mu.Unlock()
	return topology, s.topologyWrites[node]
}
