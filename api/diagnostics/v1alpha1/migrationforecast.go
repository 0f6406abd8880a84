package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MigrationForecast is what the next rounds of the descheduler would move: `koordctl forecast migrations`. No server answers it.
//
// +kubebuilder:object:root=true
type MigrationForecast struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Message is the forecast in one sentence. Where nothing moves, it says why, with the numbers.
	Message string `json:"message"`
	// Rounds that were looked at, IntervalSeconds apart; the first is now.
	Rounds          int32 `json:"rounds"`
	IntervalSeconds int64 `json:"intervalSeconds"`
	// DryRun is true where the descheduler only records what it would evict.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`
	// Plugins that the forecast is of, and Unforecast are the other plugins that are enabled, which may evict pods too.
	Plugins []string `json:"plugins"`
	// +optional
	Unforecast []string `json:"unforecast,omitempty"`
	// Nodes by their load, ordered by profile and name.
	Nodes []ForecastNode `json:"nodes"`
	// Pools of nodes, and why nothing moves in them.
	Pools []ForecastPool `json:"pools"`
	// Moves in their order.
	Moves []ForecastMove `json:"moves"`
	// Remedies that come before moves, because they cost less, in their order.
	// +optional
	Remedies []ForecastRemedy `json:"remedies,omitempty"`
	// Stays are the pods of overutilized nodes that were considered and stay.
	// +optional
	Stays []ForecastStay `json:"stays,omitempty"`
	// Notes say what the forecast assumes.
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Incomplete names what could not be read, and why; empty when the forecast is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// ForecastNode is a node with its load now and after all moves.
type ForecastNode struct {
	Name string `json:"name"`
	// Profile of the descheduler, and Pool of the plugin that the node belongs to.
	Profile string `json:"profile"`
	Pool    string `json:"pool"`
	// Class is low, bothLow, normal, high, prodHigh, prodLow or unknown, and Problem why it is unknown, such as a NodeMetric that is expired.
	Class string `json:"class"`
	// +optional
	Problem string `json:"problem,omitempty"`
	// ClassAfter is the class after all moves.
	// +optional
	ClassAfter string `json:"classAfter,omitempty"`
	// RoundsNeeded is how many rounds in a row a node must be overutilized before pods leave it.
	// +optional
	RoundsNeeded int32 `json:"roundsNeeded,omitempty"`
	// Ended says why no more pods leave the node.
	// +optional
	Ended string `json:"ended,omitempty"`
	// Resources that are compared with thresholds.
	// +optional
	Resources []ForecastLoad `json:"resources,omitempty"`
}

// ForecastLoad is the load of one resource of a node.
type ForecastLoad struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	Capacity int64  `json:"capacity"`
	// Before is the usage now, and After that after all moves.
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	// The same, and the thresholds, in hundredths of a percent of the capacity. A threshold that does not apply is absent.
	BeforeBasisPoints int64 `json:"beforeBasisPoints"`
	AfterBasisPoints  int64 `json:"afterBasisPoints"`
	// +optional
	LowBasisPoints *int64 `json:"lowBasisPoints,omitempty"`
	// +optional
	HighBasisPoints *int64 `json:"highBasisPoints,omitempty"`
}

// ForecastPool is what came of a pool of nodes in the last round.
type ForecastPool struct {
	Profile string `json:"profile"`
	Name    string `json:"name"`
	// Prod is true for the thresholds of prod pods.
	// +optional
	Prod          bool  `json:"prod,omitempty"`
	Underutilized int32 `json:"underutilized"`
	Overutilized  int32 `json:"overutilized"`
	// Stop says why no pod was considered, with the numbers; empty when pods were.
	// +optional
	Stop string `json:"stop,omitempty"`
}

// ForecastMove is a pod that would leave its node.
type ForecastMove struct {
	// Round from 1, and Seconds until it.
	Round     int32  `json:"round"`
	Seconds   int64  `json:"seconds"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	From      string `json:"from"`
	// To is a node that the plugin found to fit, and Alternatives are others; the scheduler chooses. Absent where the plugin looks for none.
	// +optional
	To string `json:"to,omitempty"`
	// +optional
	Alternatives []string `json:"alternatives,omitempty"`
	Profile      string   `json:"profile"`
	Plugin       string   `json:"plugin"`
	Reason       string   `json:"reason"`
	// Usage of the pod that moves with it.
	// +optional
	Usage []ForecastAmount `json:"usage,omitempty"`
	// Keys by which the pod was the first to leave.
	// +optional
	Keys []ForecastKey `json:"keys,omitempty"`
}

// ForecastRemedy is what relieves an overutilized node without a move, or is taken back when its load has fallen.
type ForecastRemedy struct {
	// Round from 1, and Seconds until it.
	Round   int32  `json:"round"`
	Seconds int64  `json:"seconds"`
	Profile string `json:"profile"`
	// Remedy is HoldBack, DeletionCost, LowerCPULimit or RestoreCPULimit.
	Remedy string `json:"remedy"`
	Node   string `json:"node"`
	// Namespace and Name of the pod; absent for HoldBack.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// BeforeMilliCPU and AfterMilliCPU are the CPU limits of the pod; absent for others than LowerCPULimit and RestoreCPULimit.
	// +optional
	BeforeMilliCPU int64 `json:"beforeMilliCPU,omitempty"`
	// +optional
	AfterMilliCPU int64  `json:"afterMilliCPU,omitempty"`
	Reason        string `json:"reason"`
}

// ForecastAmount is an amount of a resource.
type ForecastAmount struct {
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
	Unit     Unit   `json:"unit"`
}

// ForecastKey is one key of the order in which pods leave, such as priorityClass or score.
type ForecastKey struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ForecastStay is a pod of an overutilized node that stays.
type ForecastStay struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
	Reason    string `json:"reason"`
}
