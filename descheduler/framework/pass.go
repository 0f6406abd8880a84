package framework

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// Pass is the record of one pass.
type Pass struct {
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"`
	DryRun   bool          `json:"dryRun,omitempty"`
	// Nodes are the ready nodes that were looked at.
	Nodes int `json:"nodes"`
	// LeavingAtStart are the pods that had a migration job when the pass began.
	LeavingAtStart int `json:"leavingAtStart,omitempty"`
	// Stopped are the workloads that were not moved because they go in circles.
	Stopped []loopguard.Loop `json:"stopped,omitempty"`
	// Skipped says why no plugin ran; empty when they did.
	Skipped string `json:"skipped,omitempty"`
	// Error ended the pass.
	Error string `json:"error,omitempty"`
	// Plugins in the order in which they ran.
	Plugins []PluginRun `json:"plugins,omitempty"`
	// Evictions that were asked for, in their order, without those that a limit refused. OmittedEvictions counts what did not fit.
	Evictions        []Eviction `json:"evictions,omitempty"`
	OmittedEvictions int        `json:"omittedEvictions,omitempty"`
}

// PluginRun is what a plugin did in a pass.
type PluginRun struct {
	Profile        string        `json:"profile"`
	Plugin         string        `json:"plugin"`
	ExtensionPoint string        `json:"extensionPoint"`
	Duration       time.Duration `json:"duration"`
	Nodes          int           `json:"nodes"`
	// Considered is how often the plugin asked whether a pod may be evicted, and Refused how often each filter refused.
	Considered int            `json:"considered,omitempty"`
	Refused    map[string]int `json:"refused,omitempty"`
	// Evicted pods have a new job, or would have one in a dry run. Limited evictions were refused by a limit of the pass, Failed ones by
	// an error.
	Evicted int `json:"evicted,omitempty"`
	Limited int `json:"limited,omitempty"`
	Failed  int `json:"failed,omitempty"`
	// Error is what the plugin returned, its panic, or why it did not run.
	Error string `json:"error,omitempty"`
}

// Result of an eviction that was asked for.
type Result string

// The results.
const (
	// JobCreated: a migration job was created.
	JobCreated Result = "JobCreated"
	// WouldCreateJob: it would have been but for the dry run.
	WouldCreateJob Result = "WouldCreateJob"
	// AlreadyLeaving: the pod has a job, or is being deleted.
	AlreadyLeaving Result = "AlreadyLeaving"
	// InCircles: the workload of the pod goes in circles and is not moved.
	InCircles Result = "InCircles"
	// EvictionFailed: the job could not be created.
	EvictionFailed Result = "Failed"
)

// Eviction is one that a plugin asked for.
type Eviction struct {
	Profile   string    `json:"profile"`
	Plugin    string    `json:"plugin"`
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	UID       types.UID `json:"uid"`
	Node      string    `json:"node,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Result    Result    `json:"result"`
	Job       string    `json:"job,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// maxEvictions bounds the evictions of one record, and maxPasses the records that are kept.
const (
	maxEvictions = 1000
	maxPasses    = 16
)

// history keeps the last passes.
type history struct {
	mu     sync.Mutex
	passes []Pass
}

func (h *history) add(pass Pass) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.passes) == maxPasses {
		h.passes = slices.Delete(h.passes, 0, 1)
	}
	h.passes = append(h.passes, pass)
}

// Passes are the records of the last passes, the latest last.
func (d *Descheduler) Passes() []Pass {
	d.history.mu.Lock()
	defer d.history.mu.Unlock()
	return slices.Clone(d.history.passes)
}
