package install

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// InstallationStatus is what status prints with -o json.
type InstallationStatus struct {
	metav1.TypeMeta `json:",inline"`
	// Namespace the system is looked for in.
	Namespace string `json:"namespace"`
	// Kubernetes is the version of the API server.
	Kubernetes KubernetesStatus `json:"kubernetes"`
	// Release as Helm knows it; absent when there is none, as after `kubectl apply` of exported manifests, or when it
	// could not be read.
	Release *ReleaseStatus `json:"release,omitempty"`
	// ReleaseState is Ready for a deployed release.
	ReleaseState State `json:"releaseState"`
	// Components of the system.
	Components []ComponentStatus `json:"components"`
	// API is the registration of the diagnostics API.
	API APIStatus `json:"api"`
	// Definitions counts the resource definitions.
	Definitions DefinitionStatus `json:"definitions"`
	// Config is the state of slo-controller-config.
	Config ConfigStatus `json:"config"`
	// Protections are what the API server refuses for the system.
	Protections ProtectionsStatus `json:"protections"`
	// Enforcement is whether the agents of the nodes can limit best-effort pods.
	Enforcement EnforcementStatus `json:"enforcement"`
	// Findings are what is wrong, with the next command to run.
	Findings []diagnosticsv1alpha1.Finding `json:"findings,omitempty"`
	// Incomplete names what could not be seen, and why.
	Incomplete []string `json:"incomplete,omitempty"`
}

// Installed is false for a cluster that has nothing of the system. What could not be seen counts as there.
func (s *InstallationStatus) Installed() bool {
	return s.ReleaseState != StateAbsent || s.Definitions.State != StateAbsent || s.Config.State != StateAbsent
}

// Component is what is known of a component; nil when it is not reported.
func (s *InstallationStatus) Component(name string) *ComponentStatus {
	for i := range s.Components {
		if s.Components[i].Name == name {
			return &s.Components[i]
		}
	}
	return nil
}

// State is a part's condition in one word.
type State string

const (
	// StateReady is a part that works.
	StateReady State = "Ready"
	// StateDegraded works in part: some replicas, or standbys missing.
	StateDegraded State = "Degraded"
	// StateDown does not work.
	StateDown State = "Down"
	// StateAbsent does not exist.
	StateAbsent State = "Absent"
	// StateUnknown could not be seen.
	StateUnknown State = "Unknown"
)

// KubernetesStatus is the API server's version.
type KubernetesStatus struct {
	// Version such as v1.36.3.
	Version string `json:"version"`
	// State is Degraded when Kubernetes' version skew policy does not support koord-scheduler on this version.
	State State `json:"state"`
	// Detail says which versions are supported when this one is not.
	Detail string `json:"detail,omitempty"`
}

// ReleaseStatus is the Helm release.
type ReleaseStatus struct {
	Name         string      `json:"name"`
	Revision     int         `json:"revision"`
	Status       string      `json:"status"`
	ChartVersion string      `json:"chartVersion"`
	AppVersion   string      `json:"appVersion"`
	Updated      metav1.Time `json:"updated"`
}

// ComponentStatus is one component, run by a workload of the cluster or outside of it.
type ComponentStatus struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Workload is Deployment or DaemonSet; empty when the component runs outside the cluster or not at all.
	Workload string `json:"workload,omitempty"`
	// Ready and Desired replicas of the workload; absent without one, and when it could not be read.
	Ready   *int32 `json:"ready,omitempty"`
	Desired *int32 `json:"desired,omitempty"`
	// Leader is the identity that holds the lease.
	Leader string `json:"leader,omitempty"`
	// RenewedAt is when the leader last renewed it.
	RenewedAt *metav1.MicroTime `json:"renewedAt,omitempty"`
	// Detail says what the fields do not.
	Detail string `json:"detail,omitempty"`
}

// APIStatus is the APIService of the diagnostics API.
type APIStatus struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Detail is the API server's reason when it is not available.
	Detail string `json:"detail,omitempty"`
}

// DefinitionStatus is the custom resource definitions of the chart.
type DefinitionStatus struct {
	State State `json:"state"`
	// Established is absent when the definitions could not be listed.
	Established *int     `json:"established,omitempty"`
	Expected    int      `json:"expected"`
	Missing     []string `json:"missing,omitempty"`
}

// ConfigStatus is the ConfigMap slo-controller-config.
type ConfigStatus struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Colocation is true when the cluster-wide strategy enables co-location; absent when what is in force could not be read.
	Colocation *bool `json:"colocation,omitempty"`
	// Problems of the content; absent when it could not be read.
	Problems *int `json:"problems,omitempty"`
}

// ProtectionsStatus is the admission policies and webhook configurations that the values of the chart turn on.
type ProtectionsStatus struct {
	State State `json:"state"`
	// Expected objects; absent when it could not be read which.
	Expected *int `json:"expected,omitempty"`
	// InForce are those that are as the chart installed them; absent when not all could be read.
	InForce *int `json:"inForce,omitempty"`
	// Detail says why the state is not known.
	Detail string `json:"detail,omitempty"`
}

// EnforcementStatus is how the agents of the nodes stand, as their NodeMetrics tell.
type EnforcementStatus struct {
	State State `json:"state"`
	// Nodes with a NodeMetric; absent when they could not be listed. Enforcing are those whose agent holds best-effort pods back, and
	// Silent those whose agent does not tell, such as that of another version.
	Nodes     *int `json:"nodes,omitempty"`
	Enforcing int  `json:"enforcing,omitempty"`
	Silent    int  `json:"silent,omitempty"`
}
