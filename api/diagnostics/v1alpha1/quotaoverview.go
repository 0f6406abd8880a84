package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// QuotaState is how an ElasticQuota fares, in one word: the gravest state of its resources.
type QuotaState string

const (
	// QuotaInvalid is a quota with a value that cannot be read.
	QuotaInvalid QuotaState = "Invalid"
	// QuotaOverused uses more than its runtime.
	QuotaOverused QuotaState = "Overused"
	// QuotaWaiting is asked for more than its runtime.
	QuotaWaiting QuotaState = "Waiting"
	// QuotaUnknown is a quota whose runtime koord-scheduler has not published.
	QuotaUnknown QuotaState = "Unknown"
	// QuotaBorrows uses more than its min.
	QuotaBorrows QuotaState = "Borrows"
	// QuotaLends does not ask for its min, and others may use it.
	QuotaLends QuotaState = "Lends"
	// QuotaNormal uses no more than its min.
	QuotaNormal QuotaState = "Normal"
)

// QuotaOverview is an ElasticQuota with what koord-scheduler published about it: a row of `koordctl top quotas` and of `koordctl tree
// quota`.
//
// +kubebuilder:object:root=true
type QuotaOverview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	QuotaFacts        `json:",inline"`
}

// QuotaFacts are the place of an ElasticQuota, its state and its amounts.
type QuotaFacts struct {
	// Parent is the quota above as the object names it, koordinator-root-quota where it names none.
	Parent string `json:"parent"`
	// Tree is the ID of its tree; empty for the default tree.
	// +optional
	Tree string `json:"tree,omitempty"`
	// Depth in the tree: 0 for a quota below the root. Only `tree quota` knows it.
	// +optional
	Depth int32 `json:"depth,omitempty"`
	// Misplaced says why the quota is not where its object says, such as a parent that does not exist.
	// +optional
	Misplaced string `json:"misplaced,omitempty"`
	// IsParent is true for a quota that has other quotas below it, and normally no pods.
	// +optional
	IsParent bool `json:"isParent,omitempty"`
	// Lends is true where others may use what the quota does not request of its min.
	Lends bool `json:"lends"`
	// Namespaces whose pods belong to the quota when they name none.
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`
	// State of the quota, and Reason for it; a normal quota has no reason.
	State QuotaState `json:"state"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// Problems of the object; what cannot be read counts as the problem says.
	// +optional
	Problems []string `json:"problems,omitempty"`
	// Resources that the quota limits, guarantees or uses, cpu and memory first.
	// +optional
	Resources []QuotaResource `json:"resources,omitempty"`
}

// QuotaResource are the amounts of one resource, in its unit. What is not set or published is absent.
type QuotaResource struct {
	// Resource such as kubernetes.io/batch-cpu.
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Min is guaranteed, Max the most that the quota may use.
	// +optional
	Min *int64 `json:"min,omitempty"`
	// +optional
	Max *int64 `json:"max,omitempty"`
	// Runtime is what the quota may use now, Used what its pods with a node request, and Request what all its pods request; quotas
	// below it included.
	// +optional
	Runtime *int64 `json:"runtime,omitempty"`
	// +optional
	Used *int64 `json:"used,omitempty"`
	// +optional
	Request *int64 `json:"request,omitempty"`
}

// QuotaOverviewList is what `koordctl top quotas -o json` and `koordctl tree quota -o json` print; the latter with each parent before its
// children.
//
// +kubebuilder:object:root=true
type QuotaOverviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []QuotaOverview `json:"items"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}
