package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// QuotaVerification compares what koord-scheduler published of ElasticQuotas with what follows from the pods and nodes as they are now:
// `koordctl verify quotas`. No server answers it.
//
// +kubebuilder:object:root=true
type QuotaVerification struct {
	metav1.TypeMeta `json:",inline"`
	// Namespace and name are those of the quota that is verified; without them all are.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Verdict in one word.
	Verdict QuotaVerdict `json:"verdict"`
	// Message is the answer in one sentence.
	Message string `json:"message"`
	// Quotas that were compared.
	Quotas int32 `json:"quotas"`
	// Differences in the order of the tree, of each quota by figure and resource.
	// +optional
	Differences []QuotaDifference `json:"differences,omitempty"`
	// Findings that --fail-on counts, one for each quota with a difference.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// Incomplete names what could not be read, and why; empty when the verification is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// QuotaVerdict is a verification in one word.
type QuotaVerdict string

const (
	// QuotaAgrees means that all published figures follow from the pods and nodes.
	QuotaAgrees QuotaVerdict = "Agrees"
	// QuotaDiffers means that some do not.
	QuotaDiffers QuotaVerdict = "Differs"
	// QuotaUnverified means that the pods, the nodes or some quotas could not be read.
	QuotaUnverified QuotaVerdict = "Unknown"
)

// QuotaFigure is what koord-scheduler publishes of a quota.
type QuotaFigure string

const (
	// QuotaFigureUsed is status.used.
	QuotaFigureUsed QuotaFigure = "used"
	// QuotaFigureRequest is the annotation quota.scheduling.koordinator.sh/request.
	QuotaFigureRequest QuotaFigure = "request"
	// QuotaFigureRuntime is the annotation quota.scheduling.koordinator.sh/runtime.
	QuotaFigureRuntime QuotaFigure = "runtime"
)

// QuotaDifference is one resource of a figure, in the unit of the resource.
type QuotaDifference struct {
	Namespace string      `json:"namespace,omitempty"`
	Quota     string      `json:"quota"`
	Figure    QuotaFigure `json:"figure"`
	Resource  string      `json:"resource"`
	Unit      Unit        `json:"unit"`
	// Published by koord-scheduler; absent where it is not.
	// +optional
	Published *int64 `json:"published,omitempty"`
	// Computed from the pods and nodes; absent for a resource that the quota neither limits nor guarantees.
	// +optional
	Computed *int64 `json:"computed,omitempty"`
}
