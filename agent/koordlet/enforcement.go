package koordlet

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// enforcement brings the cgroups to what the features want.
type enforcement struct {
	options  *Options
	tree     files.FS
	layout   cgroup.Layout
	features []qos.Feature
	executor *executor.Executor
	audit    *audit.Log
	// failing says that the last round did not write all it wanted; it is logged when that changes.
	failing bool
}

func newEnforcement(options *Options, tree files.FS, layout cgroup.Layout) (*enforcement, error) {
	e := &enforcement{options: options, tree: tree, layout: layout, features: []qos.Feature{&qos.Suppression{}}, audit: audit.NewLog(auditEntries)}
	owners := make([]string, len(e.features))
	for i, feature := range e.features {
		owners[i] = feature.Name()
	}
	var err error
	e.executor, err = executor.New(executor.Options{
		Tree: tree, Layout: layout, Owners: owners, Originals: checkpoint.File{Path: options.originals()}, Audit: e.audit, Clock: options.Clock,
	})
	return e, err
}

// act is called after each reading of the machine.
func (e *enforcement) act(ctx context.Context, cluster *state.State, measured *measurement) {
	slo := cluster.SLO()
	if e.options.ReadOnly || !cluster.Known() {
		return
	}
	situation := qos.Situation{
		Period: e.options.SamplePeriod, SLO: &slov1alpha1.NodeSLOSpec{}, Node: cluster.Node(), Pods: cluster.Pods(), Tree: e.tree, Layout: e.layout,
	}
	if slo != nil {
		situation.SLO = &slo.Spec
	}
	measured.describe(&situation)
	var problems []error
	for _, feature := range e.features {
		problems = append(problems, e.executor.Declare(feature.Name(), feature.Wishes(situation)))
	}
	outcome, err := e.executor.Apply(ctx)
	e.tell(ctx, errors.Join(append(problems, outcome.Err(), err)...))
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
