package migrationcontroller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/utils"

	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// Policy is which pods may be evicted by the arguments. The priority of a PriorityClass is read from the cluster.
func Policy(ctx context.Context, client kubernetes.Interface, args *migration.Args) (evictability.Policy, error) {
	policy := evictability.Policy{
		EvictFailedBarePods:     args.EvictFailedBarePods,
		EvictAllBarePods:        args.EvictAllBarePods,
		EvictLocalStoragePods:   args.EvictLocalStoragePods,
		EvictSystemCriticalPods: args.EvictSystemCriticalPods,
		IgnorePVCPods:           args.IgnorePVCPods,
		NodeFit:                 args.NodeFit,
	}
	for _, gate := range args.SkipEvictionGates {
		policy.SkippedGates = append(policy.SkippedGates, evictability.Gate(gate))
	}
	if args.Namespaces != nil {
		policy.IncludedNamespaces, policy.ExcludedNamespaces = args.Namespaces.Include, args.Namespaces.Exclude
	}
	if args.LabelSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(args.LabelSelector)
		if err != nil {
			return policy, fmt.Errorf("labelSelector: %w", err)
		}
		policy.LabelSelector = selector
	}
	if args.NodeSelector != "" {
		selector, err := labels.Parse(args.NodeSelector)
		if err != nil {
			return policy, fmt.Errorf("nodeSelector: %w", err)
		}
		policy.NodeSelector = selector
	}
	if threshold := args.PriorityThreshold; threshold != nil {
		priority, err := utils.GetPriorityValueFromPriorityThreshold(ctx, client, &api.PriorityThreshold{Value: threshold.Value, Name: threshold.Name})
		if err != nil {
			return policy, fmt.Errorf("priorityThreshold: %w", err)
		}
		policy.PriorityThreshold = &priority
	}
	return policy, nil
}
