package recommendationview

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// Input is what an answer is made from. Nothing in it is modified.
type Input struct {
	Now            time.Time
	Recommendation *analysisv1alpha1.Recommendation
	// Pods among which those of the target are; Unseen says why they are not known, and is empty when they are.
	Pods   []*corev1.Pod
	Unseen string
	// Autoscalers of the namespace; AutoscalersUnseen says why not all are known, and is empty when they are.
	Autoscalers       recommend.Autoscalers
	AutoscalersUnseen []string
	// Options and Resizes are those of the recommender.
	Options recommend.Options
	Resizes recommend.ResizeOptions
}
