package configplan

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Plan is what a change would do.
type Plan struct {
	// Summary counts what follows.
	Summary Summary `json:"summary"`
	// Settings that change, by key, layer and path.
	Settings []SettingChange `json:"settings,omitempty"`
	// Strategies of each key with the nodes they hold for, before and after.
	Strategies []StrategyMatch `json:"strategies,omitempty"`
	// Groups of nodes on which the same settings change.
	Groups []NodeGroup `json:"groups,omitempty"`
	// Nodes on which anything changes, ordered by name.
	Nodes []NodeChange `json:"nodes,omitempty"`
	// Pods that would be suppressed or evicted at once and are not now, ordered by node and then as they would go.
	Pods []PodEffect `json:"pods,omitempty"`
	// Quotas whose runtime changes, ordered by name.
	Quotas []QuotaChange `json:"quotas,omitempty"`
	// Histogram says on how many nodes each offer changes how much.
	Histogram []Bucket `json:"histogram,omitempty"`
	// Unconverged names all nodes whose NodeSLO is not what the configuration in force renders, ordered.
	Unconverged []string `json:"unconverged,omitempty"`
	// Incomplete says what could not be foreseen.
	Incomplete []string `json:"-"`
}

// Evictions counts the pods that would be evicted at once and are not now.
func (p *Plan) Evictions() int {
	evicted := 0
	for i := range p.Pods {
		if p.Pods[i].Effect == Evicted {
			evicted++
		}
	}
	return evicted
}

// Empty says whether nothing would change.
func (p *Plan) Empty() bool {
	return len(p.Settings) == 0 && len(p.Groups) == 0 && len(p.Nodes) == 0
}

// Summary counts what a plan holds.
type Summary struct {
	// Nodes of the cluster, and those on which anything changes.
	Nodes         int `json:"nodes"`
	NodesAffected int `json:"nodesAffected"`
	// NodeSLOs and NodeMetrics count the objects that would be rewritten.
	NodeSLOs    int `json:"nodeSLOs"`
	NodeMetrics int `json:"nodeMetrics"`
	// Offers of the whole cluster that change.
	Offers []OfferChange `json:"offers,omitempty"`
	// OffersUnknown are the resources whose offers cannot be computed on some nodes where what they depend on changes.
	OffersUnknown []corev1.ResourceName `json:"offersUnknown,omitempty"`
	// PodsSuppressed and PodsEvicted at once; absent when not known. Eviction by a feature of the agent that is known to be off
	// is not counted.
	PodsSuppressed *int `json:"podsSuppressed,omitempty"`
	PodsEvicted    *int `json:"podsEvicted,omitempty"`
	// NodesOvercommitted have less to offer than batch or mid pods on them have requested; absent when not known.
	NodesOvercommitted *int `json:"nodesOvercommitted,omitempty"`
	// Quotas whose runtime changes; absent when not known.
	Quotas *int `json:"quotas,omitempty"`
	// NodesUnconverged have a NodeSLO that is not what the configuration in force renders; absent when not known.
	NodesUnconverged *int `json:"nodesUnconverged,omitempty"`
}

// OfferChange is one resource before and after. Nil is not offered at all.
type OfferChange struct {
	// Resource such as kubernetes.io/batch-cpu.
	Resource corev1.ResourceName `json:"resource"`
	// Unit of the values.
	Unit diagnosticsv1alpha1.Unit `json:"unit"`
	// Old and New offer by the two configurations.
	Old *int64 `json:"old,omitempty"`
	New *int64 `json:"new,omitempty"`
	// Published is what node.status says; absent in sums.
	Published *int64 `json:"published,omitempty"`
	// Requested by pods of the tier on the node; absent in sums, and when the pods could not be listed.
	Requested *int64 `json:"requested,omitempty"`
	// Reason why the new offer is none, or why it is not written at once.
	Reason string `json:"reason,omitempty"`
}

// NodeChange is what changes on one node.
type NodeChange struct {
	// Name of the node.
	Name string `json:"name"`
	// Group is the index of the node's group in Plan.Groups; -1 when no setting changes on it.
	Group int `json:"group"`
	// Ratios of the node's annotations that change.
	Ratios []RatioChange `json:"ratios,omitempty"`
	// Offers that change; where amplification changes, cpu and memory as the node is shown too.
	Offers []OfferChange `json:"offers,omitempty"`
	// Suppressed and Evicted count pods.
	Suppressed int `json:"suppressed,omitempty"`
	Evicted    int `json:"evicted,omitempty"`
}

// Of makes the plan of a change.
func Of(in Input) *Plan {
	b := newBuilder(&in)
	b.nodes()
	b.strategies()
	b.plan.Settings = SettingChanges(in.Old, in.New)
	b.quotas()
	b.summarize()
	return b.plan
}
