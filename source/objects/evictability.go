package objects

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// systemPriorities are the PriorityClasses that every cluster has.
var systemPriorities = map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}

// evictionPolicy is which pods may be evicted by the arguments of the MigrationController. It also says what of them is not known here.
func evictionPolicy(args *migration.Args) (evictability.Policy, []string, error) {
	policy := evictability.Policy{
		EvictFailedBarePods: args.EvictFailedBarePods, EvictAllBarePods: args.EvictAllBarePods, EvictLocalStoragePods: args.EvictLocalStoragePods,
		EvictSystemCriticalPods: args.EvictSystemCriticalPods, IgnorePVCPods: args.IgnorePVCPods, NodeFit: args.NodeFit,
	}
	for _, gate := range args.SkipEvictionGates {
		policy.SkippedGates = append(policy.SkippedGates, evictability.Gate(gate))
	}
	if args.Namespaces != nil {
		policy.IncludedNamespaces, policy.ExcludedNamespaces = args.Namespaces.Include, args.Namespaces.Exclude
	}
	var err error
	if args.LabelSelector != nil {
		if policy.LabelSelector, err = metav1.LabelSelectorAsSelector(args.LabelSelector); err != nil {
			return policy, nil, fmt.Errorf("arguments of %s: labelSelector: %w", migration.PluginName, err)
		}
	}
	if args.NodeSelector != "" {
		if policy.NodeSelector, err = labels.Parse(args.NodeSelector); err != nil {
			return policy, nil, fmt.Errorf("arguments of %s: nodeSelector: %w", migration.PluginName, err)
		}
	}
	threshold := args.PriorityThreshold
	switch {
	case threshold == nil:
		return policy, nil, nil
	case threshold.Name == "":
		policy.PriorityThreshold = threshold.Value
		return policy, nil, nil
	}
	priority, known := systemPriorities[threshold.Name]
	if !known {
		return policy, []string{fmt.Sprintf("the priority of PriorityClass %q, which priorityThreshold names, was not read; pods of a higher priority are taken to be evictable", threshold.Name)}, nil
	}
	policy.PriorityThreshold = &priority
	return policy, nil, nil
}
