package drain

import (
	policyv1 "k8s.io/api/policy/v1"
)

// Input of Decide.
type Input struct {
	// Pods of the nodes, in the order in which they are evicted where budgets make them wait.
	Pods []Selected
	// Budgets of the namespaces of these pods.
	Budgets []policyv1.PodDisruptionBudget
	// Unplaced are indices of the pods whose replacements no node takes, so that they never become ready.
	Unplaced map[int]bool
}
