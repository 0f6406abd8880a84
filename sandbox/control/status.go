// Package control is the protocol between koordctl and a sandbox's supervisor: JSON over HTTP on a Unix socket in the
// sandbox's directory, open to the owner alone.
package control

import (
	"time"

	"koordinator.sh/koord/sandbox/state"
)

// Phase is where a sandbox, a step or a component stands.
type Phase string

// Phases.
const (
	Pending  Phase = "Pending"
	Starting Phase = "Starting"
	Running  Phase = "Running"
	Done     Phase = "Done"
	BackOff  Phase = "BackOff"
	Failed   Phase = "Failed"
	Stopping Phase = "Stopping"
	Stopped  Phase = "Stopped"
)

// Status is a sandbox as its supervisor sees it, or as its files tell when there is no supervisor.
type Status struct {
	// APIVersion is diagnostics.koordinator.sh/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is SandboxStatus.
	Kind string `json:"kind"`
	// Spec is what the sandbox was asked to be.
	Spec state.Spec `json:"spec"`
	// Phase of the sandbox as a whole: Starting, Running, Failed, Stopping or Stopped.
	Phase Phase `json:"phase"`
	// Message says why a sandbox has failed.
	Message string `json:"message,omitempty"`
	// Code is the finding code of the failure.
	Code string `json:"code,omitempty"`
	// Hint is the next thing to do about the failure, where it is not to read a log.
	Hint string `json:"hint,omitempty"`
	// PID of the supervisor; 0 when there is none.
	PID int `json:"pid,omitempty"`
	// StartedAt is when the supervisor started.
	StartedAt *time.Time `json:"startedAt,omitempty"`
	// Directory with the sandbox's files.
	Directory string `json:"directory"`
	// Kubeconfig is the administrator's kubeconfig.
	Kubeconfig string `json:"kubeconfig"`
	// Context is the name of its context.
	Context string `json:"context"`
	// Server is the API server's URL.
	Server string `json:"server,omitempty"`
	// Steps of the start, in order.
	Steps []Step `json:"steps,omitempty"`
	// PendingPods are those of the scenario that others were to come after, and that no node took while the sandbox started.
	PendingPods []PendingPod `json:"pendingPods,omitempty"`
	// Components of the sandbox, in order of start.
	Components []Component `json:"components,omitempty"`
}

// Status's constant type metadata.
const (
	StatusAPIVersion = "diagnostics.koordinator.sh/v1alpha1"
	StatusKind       = "SandboxStatus"
	StatusListKind   = "SandboxStatusList"
)

// StatusList is what `sandbox list -o json` prints.
type StatusList struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Items      []Status `json:"items"`
}

// Step is one thing the supervisor waits for while the sandbox starts.
type Step struct {
	// Name says what is waited for.
	Name string `json:"name"`
	// Phase is Running, Done or Failed.
	Phase Phase `json:"phase"`
	// Detail says how far it is: "27 of 30 nodes".
	Detail string `json:"detail,omitempty"`
	// StartedAt is when the supervisor began to wait.
	StartedAt *time.Time `json:"startedAt,omitempty"`
	// EndedAt is when the wait was over.
	EndedAt *time.Time `json:"endedAt,omitempty"`
}

// PendingPod is a pod that no node takes.
type PendingPod struct {
	Namespace string `json:"namespace"`
	// Name of the pod; empty where there is none.
	Name string `json:"name,omitempty"`
	// Message says why, as the scheduler does.
	Message string `json:"message"`
}

// Component is one process of the sandbox.
type Component struct {
	Name string `json:"name"`
	// Phase is Pending, Starting, Running, BackOff, Stopping or Stopped.
	Phase Phase `json:"phase"`
	// PID of the process; 0 when there is none.
	PID int `json:"pid,omitempty"`
	// Restarts since the sandbox started.
	Restarts int `json:"restarts"`
	// StartedAt is when this process started.
	StartedAt *time.Time `json:"startedAt,omitempty"`
	// MemoryBytes is the process's share of memory: its private pages and its part of the shared ones; 0 where unknown.
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
	// LastExit says how the process before this one ended.
	LastExit string `json:"lastExit,omitempty"`
	// Log is the component's log file.
	Log string `json:"log"`
}
