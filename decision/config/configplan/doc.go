// Package configplan says what a change of ConfigMap slo-controller-config would do to a cluster before it is made: which
// nodes match which strategy, which rendered settings change on which nodes, how much batch and mid each node offers
// before and after, which pods would be suppressed or evicted at once, and which quotas get another share.
//
// It repeats no decision of a controller but calls the same functions: strategies are merged by decision/core/configmerge, offers computed by
// decision/noderesource/overcommit, shares by decision/scheduling/quota, and what happens to pods decided by decision/nodeqos/suppression and
// decision/nodeqos/eviction, each once with the configuration in force and once with the new one.
package configplan
