package koordlet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/interference"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// reconcilers are the features that set what no cgroup has.
type reconcilers struct {
	// made are all of them, on those that work, and off those that only restore, once, what an earlier agent left.
	made, on, off []qos.Reconciler
	// errors logs the latest failure of each. Some run now and then only, and succeed in between.
	errors   map[string]*errorLog
	readOnly bool
}

// newReconcilers makes all of them, because one that is off may have something to restore.
func newReconcilers(build *featureBuild) (*reconcilers, error) {
	out := &reconcilers{errors: map[string]*errorLog{}, readOnly: build.options.ReadOnly}
	for _, spec := range featureSpecs() {
		if spec.Reconciler == nil {
			continue
		}
		made, problem := spec.Reconciler(build)
		if made == nil {
			return nil, fmt.Errorf("make feature %s: %w", spec.Name, problem)
		}
		out.made = append(out.made, made)
		out.add(made, problem, build.options.anyOn(spec.Name))
	}
	return out, nil
}

// reconcilerOf returns the reconciler of a type; nil where none was made.
func reconcilerOf[T qos.Reconciler](from *reconcilers) T {
	for _, made := range from.made {
		if found, is := made.(T); is {
			return found
		}
	}
	var none T
	return none
}

// orEmpty replaces a reconciler that cannot be made by an empty one, which must not run.
func orEmpty[R any, T interface {
	*R
	qos.Reconciler
}](made T, err error) (qos.Reconciler, error) {
	if err != nil {
		return T(new(R)), finding.Wrap(err, finding.OriginalsDamaged, "put the file back as it was and restart the agent; or drain and restart the node and remove the file")
	}
	return made, nil
}

// add a reconciler that works, or one that is off and only restores. One with a problem does neither and reports it; the agent goes on.
func (k *reconcilers) add(reconciler qos.Reconciler, problem error, works bool) {
	if problem != nil {
		reconciler = unrestorable{reconciler, problem}
	}
	if works {
		k.on = append(k.on, reconciler)
	} else {
		k.off = append(k.off, reconciler)
	}
}

// unrestorable is a reconciler whose stored state cannot be read: it sets nothing and restores nothing.
type unrestorable struct {
	qos.Reconciler
	err error
}

// Reconcile implements qos.Reconciler.
func (d unrestorable) Reconcile(context.Context, qos.NodeSnapshot) error { return d.err }

// Restore implements qos.Reconciler.
func (d unrestorable) Restore(context.Context) error { return d.err }

// reconcile runs each of them with a snapshot. Failures are passed to failed, logged when they are new, and retried.
func (k *reconcilers) reconcile(ctx context.Context, in qos.NodeSnapshot, failed func(reconciler string, err error, at time.Time)) {
	pending := k.off
	k.off = nil
	for _, reconciler := range pending {
		if err := reconciler.Restore(ctx); err != nil {
			k.off = append(k.off, reconciler)
			k.reportError(ctx, reconciler, err, in.Now)
		}
	}
	for _, reconciler := range k.on {
		if err := reconciler.Reconcile(ctx, in); err != nil {
			failed(reconciler.Name(), err, in.Now)
			k.reportError(ctx, reconciler, err, in.Now)
		}
	}
}

func (k *reconcilers) reportError(ctx context.Context, reconciler qos.Reconciler, err error, now time.Time) {
	if k.errors[reconciler.Name()] == nil {
		k.errors[reconciler.Name()] = &errorLog{}
	}
	k.errors[reconciler.Name()].Report(ctx, err, now, "Failed to reconcile a feature, will retry", "feature", reconciler.Name())
}

// relief is what best effort gives up because services are disturbed.
func (k *reconcilers) relief() suppression.Relief {
	return reconcilerOf[*interference.Reconciler](k).Relief()
}

// restore gives everything back; an agent that writes nothing leaves what an earlier one set.
func (k *reconcilers) restore(ctx context.Context) error {
	if k.readOnly {
		return nil
	}
	var problems []error
	for _, reconciler := range slices.Concat(k.on, k.off) {
		if err := reconciler.Restore(ctx); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", reconciler.Name(), err))
		}
	}
	return errors.Join(problems...)
}
