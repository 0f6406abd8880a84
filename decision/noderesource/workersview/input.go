package workersview

import (
	"time"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Input is what an answer is made from. Nothing in it is modified.
type Input struct {
	Now    time.Time
	Object *schedulingv1alpha1.ElasticWorkers
}
