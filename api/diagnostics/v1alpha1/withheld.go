package v1alpha1

// Withheld counts the objects of one resource that an answer would name if the caller could get them.
type Withheld struct {
	// Resource in the plural, with its API group where it has one: nodes, elasticquotas.scheduling.sigs.k8s.io.
	Resource string `json:"resource"`
	// Count of objects.
	Count int32 `json:"count"`
}

// FixBeyondRights is the smallest change that helps, where the caller may not make it. It names no object.
type FixBeyondRights struct {
	// Kind of change, as in a Fix.
	Kind string `json:"kind"`
	// Needs are the permissions that the change requires and the user does not have: "patch nodes", "delete pods". Cluster administrators have them.
	Needs []string `json:"needs"`
	// Objects counts what it would change.
	Objects int32 `json:"objects"`
	// NodesUnlocked counts the nodes that become feasible.
	NodesUnlocked int32 `json:"nodesUnlocked"`
}
