package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// UsageHistory is what a node used, step by step.
type UsageHistory struct {
	// StepMilliseconds is the time that each moment is the average of.
	StepMilliseconds int64 `json:"stepMilliseconds"`
	// Moments, oldest first.
	Moments []UsageMoment `json:"moments"`
}

// UsageMoment is what was used over the step that ended at a time.
type UsageMoment struct {
	Time metav1.Time `json:"time"`
	// CPU in millicores.
	CPU UsageParts `json:"cpu"`
	// Memory in bytes.
	Memory UsageParts `json:"memory"`
}

// UsageParts is what a node used, and who of it.
type UsageParts struct {
	// Used on the whole node.
	Used int64 `json:"used"`
	// SystemUsed is used by nothing that is a pod.
	SystemUsed int64 `json:"systemUsed"`
	// ProdUsed is used by pods that are neither mid, batch nor free.
	ProdUsed int64 `json:"prodUsed"`
	// MidUsed is used by mid pods.
	MidUsed int64 `json:"midUsed"`
	// BatchUsed is used by batch pods.
	BatchUsed int64 `json:"batchUsed"`
	// FreeUsed is used by free pods.
	FreeUsed int64 `json:"freeUsed"`
}
