package nodetiers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/descheduling/podselection"
)

// Input is what a pass is decided from. Nothing in it is modified.
type Input struct {
	Policy *Policy
	Nodes  []placement.NodePods
	// Protected pods do not leave, with the reason.
	Protected map[types.UID]string
}

// Policy is the arguments, compiled once.
type Policy struct {
	args      Args
	nodes     labels.Selector
	tiers     []labels.Selector
	selection podselection.Selection
}

// Compile makes a policy of valid arguments with their defaults.
func Compile(args *Args) (*Policy, error) {
	policy := &Policy{args: *args}
	var err error
	if policy.nodes, err = podselection.Labels(args.NodeSelector); err != nil {
		return nil, fmt.Errorf("compile the node selector of %s: %w", Kind, err)
	}
	if policy.selection, err = podselection.Compile(args.EvictableNamespaces, args.PodSelectors); err != nil {
		return nil, fmt.Errorf("compile %s: %w", Kind, err)
	}
	for i := range args.EvictionOrder {
		selector := labels.Nothing()
		if args.EvictionOrder[i].NodeSelector != nil {
			if selector, err = podselection.Labels(args.EvictionOrder[i].NodeSelector); err != nil {
				return nil, fmt.Errorf("compile the node selector of tier %s: %w", args.EvictionOrder[i].Name, err)
			}
		}
		policy.tiers = append(policy.tiers, selector)
	}
	return policy, nil
}
