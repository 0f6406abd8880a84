package koordlet

import (
	"context"
	"sync"

	"koordinator.sh/koord/agent/state"
)

// observer watches the machine beside the rounds of enforcement, until the context ends.
type observer interface {
	Run(ctx context.Context, cluster *state.State)
}

// newObservers makes those of the features that are on.
func newObservers(build *featureBuild) []observer {
	var out []observer
	for _, spec := range featureSpecs() {
		if spec.Observer != nil && build.on(spec.Spec) {
			out = append(out, spec.Observer(build))
		}
	}
	return out
}

// observerOf returns the observer of a type; nil where its feature is off.
func observerOf[T observer](from []observer) T {
	for _, made := range from {
		if found, is := made.(T); is {
			return found
		}
	}
	var none T
	return none
}

// observe runs the observers until the context ends.
func (e *enforcement) observe(ctx context.Context, cluster *state.State) {
	var group sync.WaitGroup
	for _, each := range e.observers {
		group.Go(func() { each.Run(ctx, cluster) })
	}
	group.Wait()
}
