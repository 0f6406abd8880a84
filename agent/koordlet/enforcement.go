package koordlet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/evictor"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// forgetEvery is how often what is known of pods that went is dropped.
const forgetEvery = 10 * time.Minute

// enforcement brings the cgroups to what the features want.
type enforcement struct {
	options  *Options
	tree     files.FS
	layout   cgroup.Layout
	features []qos.Feature
	// suppression is one of the features, when it is on.
	suppression *qos.Suppression
	evictor     *evictor.Evictor
	// containers of the pods, and when those of pods that went were forgotten.
	containers *qos.Containers
	forgotten  time.Time
	executor   *executor.Executor
	audit      *audit.Log
	// failing says that the last round did not write all it wanted; it is logged when that changes.
	failing bool
}

func newEnforcement(options *Options, client kubernetes.Interface, recorder events.EventRecorder, tree files.FS, layout cgroup.Layout) (*enforcement, error) {
	e := &enforcement{
		options: options, tree: tree, layout: layout, suppression: &qos.Suppression{}, audit: audit.NewLog(auditEntries),
		containers: qos.NewContainers(tree, layout),
	}
	e.features = options.enabled(e.suppression)
	e.evictor = evictor.New(evictor.Options{Client: client, On: options.evicting(), Audit: e.audit, Events: recorder, Clock: options.Clock})
	var err error
	e.executor, err = executor.New(executor.Options{
		Tree: tree, Layout: layout, Owners: owners(), Originals: checkpoint.File{Path: options.originals()}, Audit: e.audit, Clock: options.Clock,
	})
	return e, err
}

// act is called after each reading of the machine.
func (e *enforcement) act(ctx context.Context, cluster *state.State, measured *measurement) {
	if e.options.ReadOnly || !cluster.Known() {
		return
	}
	situation := e.situation(cluster, measured)
	if e.evictor.Enabled() {
		e.evictor.Decide(evictor.Reading{
			Now: situation.Now, Period: situation.Period, Strategy: situation.SLO.ResourceUsedThresholdWithBE, Node: situation.Node,
			Pods: situation.Pods, Capacity: situation.Capacity, Used: situation.Used, PodUsed: situation.PodUsed, BestEffortLimit: e.suppression.Limit(),
		})
	}
	var problems []error
	for _, feature := range e.features {
		problems = append(problems, e.executor.Declare(feature.Name(), feature.Wishes(situation)))
	}
	if e.forgotten.Add(forgetEvery).Before(situation.Now) {
		e.containers.Forget(e.forgotten)
		e.forgotten = situation.Now
	}
	outcome, err := e.executor.Apply(ctx)
	e.tell(ctx, errors.Join(append(problems, outcome.Err(), err)...))
}

// situation is what the features look at.
func (e *enforcement) situation(cluster *state.State, measured *measurement) qos.Situation {
	out := qos.Situation{
		Period: e.options.SamplePeriod, SLO: &slov1alpha1.NodeSLOSpec{}, Node: cluster.Node(), Pods: cluster.Pods(), Reported: cluster.Topology(),
		Tree: e.tree, Layout: e.layout, Containers: e.containers,
	}
	if slo := cluster.SLO(); slo != nil {
		out.SLO = &slo.Spec
	}
	measured.describe(&out)
	return out
}

// tell logs when wishes begin to fail.
func (e *enforcement) tell(ctx context.Context, err error) {
	if err != nil && !e.failing && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "some of what is wanted of cgroups did not come true, retrying")
	}
	e.failing = err != nil
}

// restore gives everything back.
func (e *enforcement) restore(ctx context.Context) error {
	outcome, err := e.executor.Restore(ctx)
	if err := errors.Join(outcome.Err(), err); err != nil {
		return fmt.Errorf("give back what was there before: %w", err)
	}
	return nil
}
