package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// ObjectTimelineReader is a source that tells what happened to objects other than pods. Implementations are safe for concurrent use.
type ObjectTimelineReader interface {
	// ObjectTimeline tells what happened to an object that is no pod, and of a workload or gang also to its pods; the namespace is ignored for
	// kinds without one. What cannot be read, the answer names. A name that neither an object nor an event has is an error with code KOORD0003.
	ObjectTimeline(ctx context.Context, kind Kind, namespace, name string) (*diagnosticsv1alpha1.ObjectTimeline, error)
}

// TimelineReader is a source that tells what happened to a pod. Implementations are safe for concurrent use.
type TimelineReader interface {
	// PodTimeline tells what happened to a pod, also to one that does not exist anymore. What cannot be read, the answer names. A name that
	// neither a pod nor what is told of pods has is an error with code KOORD0003.
	PodTimeline(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.PodTimeline, error)
}
