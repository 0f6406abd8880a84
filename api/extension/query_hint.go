package extension

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels of the pods of query engines, for which koord-manager writes scheduling hints. The value is the name of the engine, under which
// workers and caches of a namespace belong together.
const (
	// LabelQueryWorker marks a worker of a query engine, such as Trino and Presto.
	LabelQueryWorker = SchedulingDomainPrefix + "query-worker"
	// LabelQueryCache marks a pod that keeps data in memory for the workers of a query engine on its node.
	LabelQueryCache = SchedulingDomainPrefix + "query-cache"
)

// QueryHintExtension is the key of a QueryHint among the extensions of a SchedulingHint.
const QueryHintExtension = "query"

// QueryHintWriter is the writer of the hints for pods of query engines.
const QueryHintWriter = "koord-manager"

// QueryHint says how koord-manager came to the nodes that a SchedulingHint prefers, or why it prefers none.
type QueryHint struct {
	// Writer is koord-manager.
	Writer string `json:"writer"`
	// ID is unique to the hint.
	ID string `json:"id"`
	// Engine and Role of the pod: worker or cache.
	Engine string `json:"engine"`
	Role   string `json:"role"`
	// Time when the hint was written.
	Time metav1.Time `json:"time"`
	// Reason why no node is preferred, and its finding code where somebody has to act; empty where nodes are preferred.
	Reason string `json:"reason,omitempty"`
	Code   string `json:"code,omitempty"`
	// Nodes are those that are preferred, in their order.
	Nodes []QueryHintNode `json:"nodes,omitempty"`
	// LeftOut are the other nodes, by the reason why they are not preferred.
	LeftOut []QueryHintLeftOut `json:"leftOut,omitempty"`
}

// QueryHintNode is what was known of a node when it was preferred.
type QueryHintNode struct {
	Name string `json:"name"`
	// Workers and Caches of the engine on the node, with those that were given it and do not run yet.
	Workers int32 `json:"workers"`
	Caches  int32 `json:"caches"`
	// MemoryPercent of the node's capacity is used, and PredictedPercent at most within an hour; nil where nothing predicts.
	MemoryPercent    int32  `json:"memoryPercent"`
	PredictedPercent *int32 `json:"predictedPercent,omitempty"`
}

// QueryHintLeftOut is nodes that are not preferred, for one reason.
type QueryHintLeftOut struct {
	Reason string `json:"reason"`
	Count  int32  `json:"count"`
	// Nodes are a few of them, by name.
	Nodes []string `json:"nodes,omitempty"`
}

// GetQueryHint decodes the QueryHint of a SchedulingHint; nil where it has none.
func GetQueryHint(hint *SchedulingHint) (*QueryHint, error) {
	if hint == nil || len(hint.Extensions[QueryHintExtension]) == 0 {
		return nil, nil
	}
	out := new(QueryHint)
	if err := DecodeJSON(string(hint.Extensions[QueryHintExtension]), MaxAnnotationBytes, out); err != nil {
		return nil, fmt.Errorf("decode extension %q of the scheduling hint: %w", QueryHintExtension, err)
	}
	return out, nil
}

// SetQueryHint puts a QueryHint among the extensions of a SchedulingHint.
func SetQueryHint(hint *SchedulingHint, query *QueryHint) error {
	data, err := json.Marshal(query)
	if err != nil {
		return fmt.Errorf("encode extension %q of the scheduling hint: %w", QueryHintExtension, err)
	}
	if hint.Extensions == nil {
		hint.Extensions = map[string]json.RawMessage{}
	}
	hint.Extensions[QueryHintExtension] = data
	return nil
}
