package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// TimelineReader is a source that tells what happened to a pod. Implementations are safe for concurrent use.
type TimelineReader interface {
	// PodTimeline tells what happened to a pod. Only the pod is indispensable: what else cannot be read, the answer names. A name that does
	// not exist is an error with code KOORD0003.
	PodTimeline(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.PodTimeline, error)
}
