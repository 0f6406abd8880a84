package rebalance

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/descheduler/plugins/lownodeload"
)

// Sources are what the plugin reads beside nodes and pods. The zero value reads all with the client of the handle.
type Sources struct {
	// NodeMetrics are read with the client of the handle where it is nil.
	NodeMetrics lownodeload.NodeMetrics
	// Jobs list the PodMigrationJobs.
	Jobs func(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error)
	// Evictions that no PodMigrationJob made, such as those by the agents; nil for none.
	Evictions func(ctx context.Context, jobs []schedulingv1alpha1.PodMigrationJob) ([]loopguard.Move, error)
	// Strategies by the name of the node say when the agent holds best-effort pods back and evicts; nil reads the NodeSLOs.
	Strategies func(ctx context.Context) (map[string]*slov1alpha1.ResourceThresholdStrategy, error)
	// Scheduler returns the arguments of LoadAwareScheduling, up to whose thresholds the scheduler fills nodes; nil is unknown.
	Scheduler func(ctx context.Context) (*loadaware.Args, error)
	// Review asks koord-scheduler where pods would go; nil where it cannot be asked.
	Review func(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error)
	// Report takes what each pass plans, and why the plan could not be reviewed; nil for none.
	Report func(plan rebalance.Plan, trace *rebalance.Trace, unreviewed error)
	// Stopped takes the workloads that a pass does not move because they went in circles; nil for none.
	Stopped func(ctx context.Context, loops []loopguard.Loop)
	// Recorder records on pods that their CPU limits were lowered and given back; nil for none.
	Recorder events.EventRecorder
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
	if s.Strategies == nil {
		s.Strategies = func(ctx context.Context) (map[string]*slov1alpha1.ResourceThresholdStrategy, error) {
			return strategies(ctx, reading.Client())
		}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s, reading.Client(), nil
}

// strategies reads those of all NodeSLOs.
func strategies(ctx context.Context, reading client.Reader) (map[string]*slov1alpha1.ResourceThresholdStrategy, error) {
	var list slov1alpha1.NodeSLOList
	if err := reading.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list NodeSLOs: %w", err)
	}
	found := make(map[string]*slov1alpha1.ResourceThresholdStrategy, len(list.Items))
	for i := range list.Items {
		found[list.Items[i].Name] = list.Items[i].Spec.ResourceUsedThresholdWithBE
	}
	return found, nil
}
