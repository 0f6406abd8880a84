package koordlet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/agent/evictor"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// forgetInterval is how often what is known of pods that went is dropped.
const forgetInterval = 10 * time.Minute

// enforcement brings the cgroups to what the features want.
type enforcement struct {
	options  *Options
	tree     files.FS
	proc     files.FS
	sys      files.FS
	layout   cgroup.Layout
	features []qos.Feature
	// suppression is one of the features, when it is on.
	suppression *qos.Suppression
	evictor     *evictor.Evictor
	// copilots know the containers of schedulers outside of Kubernetes.
	copilots *copilot.Follower
	// reconcilers is what no cgroup has, and observers what watches the machine beside the rounds.
	reconcilers *reconcilers
	observers   []observer
	// containers of the pods, and when those of pods that went were forgotten.
	containers  *qos.Containers
	forgottenAt time.Time
	executor    *executor.Executor
	audit       *audit.Log
	// writeDurations are how long those of the executor take, and asked how long container runtimes wait for the advisor.
	writeDurations *writeDurations
	hookDurations  *hookDurations
	// round is what came of the last one, and results what features reported themselves, for explain and metrics.
	round   round
	results featureResults
	// advisor answers container runtimes; nil when the agent writes nothing.
	advisor *hooks.Advisor
	// applyErrors is what the last round did not write of all it wanted.
	applyErrors errorLog
}

func newEnforcement(options *Options, client kubernetes.Interface, recorder events.EventRecorder, trees *trees, layout cgroup.Layout) (*enforcement, error) {
	e := &enforcement{
		options: options, tree: trees.cgroup, proc: trees.proc, sys: trees.sys, layout: layout, suppression: &qos.Suppression{},
		audit: audit.NewLog(auditEntries), writeDurations: newWriteDurations(options.Clock), hookDurations: newHookDurations(), containers: qos.NewContainers(trees.cgroup, layout),
	}
	var err error
	build := &featureBuild{options: options, trees: trees, layout: layout, audit: e.audit, events: recorder, suppression: e.suppression}
	if e.reconcilers, err = newReconcilers(build); err != nil {
		return nil, err
	}
	build.reconcilers = e.reconcilers
	e.observers = newObservers(build)
	e.features = options.enabled(build)
	e.copilots = copilot.NewFollower(copilot.FollowerOptions{Sockets: options.CopilotSockets, Tree: trees.cgroup, Layout: layout, Clock: options.Clock})
	e.evictor = evictor.New(evictor.Options{
		Client: client, On: options.evicting(), Soft: options.isOn(&nodefeature.SoftEvict), Audit: e.audit, Events: recorder, Clock: options.Clock, InDanger: options.EvictInDanger,
		History:    checkpoint.File{Path: options.evictionsFile()},
		Containers: e.copilots,
	})
	// That originals cannot be read is no reason not to start: the agent measures and reports, and each round says what is wrong.
	e.executor, _ = executor.New(executor.Options{
		Tree: e.writeDurations.of(trees.cgroup), Proc: e.writeDurations.of(trees.proc), Sys: e.writeDurations.of(trees.sys), Layout: layout, Owners: owners(), Originals: checkpoint.File{Path: options.originalsFile()},
		Audit: e.audit, Clock: options.Clock,
	})
	e.advisor = e.newAdvisor()
	return e, nil
}

// enforce is called after each reading of the machine.
func (e *enforcement) enforce(ctx context.Context, cluster *state.State, measured *measurement) {
	if e.options.ReadOnly || !cluster.Known() {
		return
	}
	snapshot := e.snapshot(cluster, measured)
	if e.evictor.Enabled() {
		e.evictor.Decide(evictor.Reading{
			Now: snapshot.Now, Period: snapshot.Period, Strategy: snapshot.SLO.ResourceUsedThresholdWithBE, Node: snapshot.Node,
			Pods: snapshot.Pods, Capacity: snapshot.Capacity, Used: snapshot.Used, PodUsed: snapshot.PodUsed, Containers: e.copilots.Containers(), BestEffortLimit: e.suppression.Limit(),
		})
	}
	e.reconcilers.reconcile(ctx, snapshot, e.results.recordFailure)
	snapshot.Relief = e.reconcilers.relief()
	var problems []error
	for _, feature := range e.features {
		problems = append(problems, e.executor.Declare(feature.Name(), feature.DesiredValues(snapshot)))
	}
	if e.forgottenAt.Add(forgetInterval).Before(snapshot.Now) {
		e.containers.Forget(e.forgottenAt)
		e.forgottenAt = snapshot.Now
	}
	e.advisor.Observe(snapshot)
	outcome, err := e.executor.Apply(ctx)
	e.round.record(snapshot.Now, e.suppression.Input(), e.suppression.Decision(), outcome)
	e.results.record(e.features)
	e.reportErrors(ctx, errors.Join(append(problems, outcome.Err(), err)...))
}

// suppressNow is called after an alarm, between two readings. Only best-effort pods are held back: all else changes at regular distances.
func (e *enforcement) suppressNow(ctx context.Context, cluster *state.State, measured *measurement) {
	if e.options.ReadOnly || !cluster.Known() || !slices.Contains(e.features, qos.Feature(e.suppression)) {
		return
	}
	snapshot := e.snapshot(cluster, measured)
	err := e.executor.Declare(e.suppression.Name(), e.suppression.DesiredValues(snapshot))
	outcome, problem := e.executor.Apply(ctx)
	e.round.record(snapshot.Now, e.suppression.Input(), e.suppression.Decision(), outcome)
	e.reportErrors(ctx, errors.Join(err, outcome.Err(), problem))
}

// snapshot is what the features look at.
func (e *enforcement) snapshot(cluster *state.State, measured *measurement) qos.NodeSnapshot {
	out := qos.NodeSnapshot{
		Period: e.options.SamplePeriod, SLO: &slov1alpha1.NodeSLOSpec{}, Node: cluster.Node(), Pods: cluster.Pods(), Reported: cluster.Topology(),
		Tree: e.tree, Proc: e.proc, Sys: e.sys, Layout: e.layout, Containers: e.containers, Audit: e.audit, Relief: e.reconcilers.relief(),
		QuotaNormalized: slices.Contains(e.features, qos.Feature(qos.CPUNormalization{})),
	}
	if slo := cluster.SLO(); slo != nil {
		out.SLO = &slo.Spec
	}
	measured.describe(&out)
	return out
}

// runWorkers runs the features that have work to do beside declaring values, until the context ends.
func (e *enforcement) runWorkers(ctx context.Context) {
	var group sync.WaitGroup
	for _, feature := range e.features {
		if works, does := feature.(qos.Worker); does && !e.options.ReadOnly {
			group.Go(func() { works.Run(ctx, e.options.Clock) })
		}
	}
	group.Wait()
}

// reportErrors logs when values begin to fail.
func (e *enforcement) reportErrors(ctx context.Context, err error) {
	var details []any
	if coded, has := finding.From(err); has {
		details = []any{"code", coded.Code, "hint", coded.Hint}
	}
	e.applyErrors.Report(ctx, err, e.options.Clock.Now(), "Failed to apply some cgroup values, will retry", details...)
}

// restore gives everything back. An agent that writes nothing leaves what an earlier one did to one that does.
func (e *enforcement) restore(ctx context.Context) error {
	if e.options.ReadOnly {
		return nil
	}
	outcome, err := e.executor.Restore(ctx)
	if err := errors.Join(outcome.Err(), err, e.reconcilers.restore(ctx)); err != nil {
		return fmt.Errorf("restore original values: %w", err)
	}
	return nil
}
