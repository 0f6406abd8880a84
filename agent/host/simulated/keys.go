package simulated

// LabelNode on a node says that it is simulated when it is "true". Nodes without it are left alone.
const LabelNode = "simulation.koordinator.sh/node"

// Annotations of a pod that steer its simulation.
const (
	// AnnotationProfile names the pod's Profile.
	AnnotationProfile = "simulation.koordinator.sh/profile"
	// AnnotationCPUPercent is the CPU use the profile is centred on, in percent of the request: a number up to
	// 1000; 0 stands for the profile's default.
	AnnotationCPUPercent = "simulation.koordinator.sh/cpu-percent"
	// AnnotationAge is how much longer than its object says the pod has been running, a Go duration of at most 1000h:
	// its memory has grown and the agent has learned its load for that long.
	AnnotationAge = "simulation.koordinator.sh/age"
)

// Annotations of a node that steer its simulation.
const (
	// AnnotationHotPercent drives the node's pods of services up, as far as their limits let them, until the node uses
	// this percentage of its CPU: a number from 0 to 100.
	AnnotationHotPercent = "simulation.koordinator.sh/hot-percent"
	// AnnotationFreezeMetrics stops the node's reports: "true" leaves the last one as it is, and gives a node without
	// any one that is 20 minutes old; a Go duration such as "1h" makes one report of that age and no more.
	AnnotationFreezeMetrics = "simulation.koordinator.sh/freeze-metrics"
	// AnnotationReport makes the node's reports wrong: "negative", "absurd" (20 times the capacity) or "future" (an
	// hour ahead). With "unenforced" they are right, and say that the agent cannot limit best-effort pods.
	AnnotationReport = "simulation.koordinator.sh/report"
)
