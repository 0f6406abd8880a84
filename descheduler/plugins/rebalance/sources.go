package rebalance

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/descheduler/plugins/lownodeload"
)

// Sources are what the plugin reads beside nodes and pods. The zero value reads all with the client of the handle.
type Sources struct {
	// NodeMetrics are read with the client of the handle where it is nil.
	NodeMetrics lownodeload.NodeMetricLister
	// Jobs list the PodMigrationJobs.
	Jobs func(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error)
	// Evictions by the agents; nil for none.
	Evictions func(ctx context.Context) ([]loopguard.Move, error)
	// Limits of a node are the lowest thresholds of the scheduler and the agent, as fractions of its capacity; nil for none.
	Limits func(node *corev1.Node) map[corev1.ResourceName]float64
	// Feasibility asks the scheduler; nil asks the filters of Kubernetes that need no more than nodes and pods. Nodes and pods have the
	// order of the input; nodeOf is the node of a pod.
	Feasibility func(ctx context.Context, nodes []*corev1.Node, pods []*corev1.Pod, nodeOf func(pod int) int) rebalance.Feasibility
	// Report takes what each pass plans; nil for nobody.
	Report func(plan rebalance.Plan, trace *rebalance.Trace)
	// Stopped takes the workloads that a pass does not move because they went in circles, none where there is none; nil for nobody.
	Stopped func(ctx context.Context, loops []loopguard.Loop)
	// Now is the clock; nil is the one of the machine.
	Now func() time.Time
}

// reader is the handle of a descheduler that reads the kinds of Koordinator.
type reader interface{ Client() client.Client }

// complete fills in what is left out.
func (s Sources) complete(handle frameworktypes.Handle) (Sources, client.Client, error) {
	reading, ok := handle.(reader)
	if !ok {
		return s, nil, fmt.Errorf("the handle of %s has no client that reads PodMigrationJobs", rebalance.PluginName)
	}
	if s.NodeMetrics == nil {
		s.NodeMetrics = lownodeload.ClientNodeMetrics{Reader: reading.Client()}
	}
	if s.Jobs == nil {
		s.Jobs = func(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error) {
			var list schedulingv1alpha1.PodMigrationJobList
			if err := reading.Client().List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
				return nil, fmt.Errorf("list PodMigrationJobs: %w", err)
			}
			return list.Items, nil
		}
	}
	if s.Feasibility == nil {
		s.Feasibility = func(_ context.Context, nodes []*corev1.Node, pods []*corev1.Pod, nodeOf func(int) int) rebalance.Feasibility {
			return rebalance.NodeFit(nodes, pods, nodeOf)
		}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s, reading.Client(), nil
}
