package lownodeload

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// History is what a pass remembers for the next: how often in a row each node was overutilized. It is a value: Decide returns a new
// one, and the caller stores it as JSON, so that the counts outlive a restart. Nodes that were not overutilized lately are not in it.
type History struct {
	// Nodes by name.
	Nodes map[string]NodeHistory `json:"nodes,omitempty"`
}

// HistoryConfigMap is the ConfigMap in which koord-descheduler keeps histories, in the namespace of the system.
const HistoryConfigMap = "koord-descheduler-history"

// StoredHistory is a History as it is kept in a ConfigMap.
type StoredHistory struct {
	SavedAt metav1.Time `json:"savedAt"`
	History History     `json:"history"`
}

// StoredOf finds the History of the plugin in the profile with an index, in the data of the ConfigMap that koord-descheduler keeps. It is
// the one that was saved last, as one with other arguments has a key of its own; false when there is none.
func StoredOf(data map[string]string, profile int) (History, bool) {
	var newest StoredHistory
	prefix, found := fmt.Sprintf("%d-%s-", profile, PluginName), false
	for key, text := range data {
		var stored StoredHistory
		if !strings.HasPrefix(key, prefix) || json.Unmarshal([]byte(text), &stored) != nil {
			continue
		}
		if !found || stored.SavedAt.After(newest.SavedAt.Time) {
			newest, found = stored, true
		}
	}
	return newest.History, found
}

// NodeHistory is the counts of one node.
type NodeHistory struct {
	// Pool that the node was in. In another pool, its count restarts.
	Pool string   `json:"pool"`
	Node Detector `json:"node,omitzero"`
	Prod Detector `json:"prod,omitzero"`
	// ObservedAt is when the node was classified last.
	ObservedAt metav1.Time `json:"observedAt"`
}

// Detector tells a node that is overutilized for long from one that is so by chance. The zero value has seen nothing.
type Detector struct {
	// Abnormalities and Normalities are how many of the last observations were alike. One of them is zero; normalities are counted
	// only while the node is anomalous.
	Abnormalities uint32 `json:"abnormalities,omitempty"`
	Normalities   uint32 `json:"normalities,omitempty"`
	// AnomalousSince is when the node became anomalous; zero while it is not.
	AnomalousSince metav1.Time `json:"anomalousSince,omitzero"`
}

// Anomalous is true for a node that pods may leave.
func (d Detector) Anomalous() bool { return !d.AnomalousSince.IsZero() }

// Observe returns the detector after one more observation. A node becomes anomalous with more abnormalities in a row than the condition
// says, or with the first where it says 1. It is normal again after more normalities in a row, and after the timeout, when the count
// restarts.
func (d Detector) Observe(overutilized bool, now time.Time, condition *AnomalyCondition) Detector {
	if since := d.AnomalousSince.Time; d.Anomalous() && (now.Sub(since) > condition.Timeout.Duration || now.Add(time.Second).Before(since)) {
		d = Detector{}
	}
	if !overutilized {
		d.Abnormalities, d.Normalities = 0, d.Normalities+1
		if !d.Anomalous() || d.Normalities > condition.ConsecutiveNormalities {
			return Detector{}
		}
		return d
	}
	d.Normalities = 0
	d.Abnormalities = min(d.Abnormalities+1, maxConsecutive+1)
	if !d.Anomalous() && (d.Abnormalities > condition.ConsecutiveAbnormalities || condition.ConsecutiveAbnormalities == 1) {
		d.AnomalousSince = timestamp(now)
	}
	return d
}

// keptIntervals is how many passes a node can miss before its counts are forgotten.
const keptIntervals = 3

// recall returns the counts of a node as they were before this pass: none in another pool, and none when it was not observed for too
// long, or at a time that has not come yet.
func (h History) recall(node, pool string, in *Input) NodeHistory {
	found, known := h.Nodes[node]
	age := in.Now.Sub(found.ObservedAt.Time)
	if !known || found.Pool != pool || age < -clockSkew || age > in.Policy.kept(in.Interval) {
		return NodeHistory{Pool: pool}
	}
	return found
}

// kept is how long counts are kept of a node that is not observed. It is never less than the passes are apart.
func (p *Policy) kept(interval time.Duration) time.Duration {
	if interval <= 0 {
		return time.Duration(maxSeconds) * time.Second
	}
	return max(p.cacheTimeout, min(interval, time.Duration(maxSeconds)*time.Second/keptIntervals)*keptIntervals)
}

// timestamp is a time as JSON keeps it, so that a history is the same after it was stored.
func timestamp(at time.Time) metav1.Time { return metav1.NewTime(at.Truncate(time.Second).UTC()) }
