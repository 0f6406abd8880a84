package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// QuotaForecast is what would happen if an ElasticQuota were another: `koordctl whatif quota`. No server answers it.
//
// +kubebuilder:object:root=true
type QuotaForecast struct {
	metav1.TypeMeta `json:",inline"`
	// Namespace and name are those of the quota that is changed.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Verdict in one word.
	Verdict QuotaForecastVerdict `json:"verdict"`
	// Message is the answer in one sentence.
	Message string `json:"message"`
	// Edits of the quota.
	Edits []QuotaEdit `json:"edits"`
	// Quotas whose runtime changes, or that would use more than it, by resource; in order of their names.
	// +optional
	Quotas []QuotaChange `json:"quotas,omitempty"`
	// Admitted are the waiting pods that fit into their quotas after the change and not before, and Refused those that fit before and not
	// after. They are listed up to a limit; AdmittedOmitted and RefusedOmitted are how many more there are.
	// +optional
	Admitted []ChangedPod `json:"admitted,omitempty"`
	// +optional
	AdmittedOmitted int32 `json:"admittedOmitted,omitempty"`
	// +optional
	Refused []ChangedPod `json:"refused,omitempty"`
	// +optional
	RefusedOmitted int32 `json:"refusedOmitted,omitempty"`
	// Notes say what the forecast assumes, and what koord-scheduler does about quotas that use more than their runtime.
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Findings that --fail-on counts: what koord-manager refuses the change for, and what it warns of.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// Incomplete names what could not be read, and why; empty when the forecast is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// QuotaForecastVerdict is a forecast in one word.
type QuotaForecastVerdict string

const (
	// QuotaForecastChanges means that the runtime of some quota changes.
	QuotaForecastChanges QuotaForecastVerdict = "Changes"
	// QuotaForecastUnchanged means that no runtime changes.
	QuotaForecastUnchanged QuotaForecastVerdict = "Unchanged"
	// QuotaForecastRefused means that koord-manager refuses the change. The rest of the forecast is what would happen without koord-manager.
	QuotaForecastRefused QuotaForecastVerdict = "Refused"
	// QuotaForecastUnknown means that the pods, the nodes or some quotas could not be read.
	QuotaForecastUnknown QuotaForecastVerdict = "Unknown"
)

// QuotaEdit is one changed field.
type QuotaEdit struct {
	// Field such as spec.min[cpu].
	Field string `json:"field"`
	// Before and After are the values; empty for none.
	// +optional
	Before string `json:"before,omitempty"`
	// +optional
	After string `json:"after,omitempty"`
}

// QuotaChange is what one resource of a quota was and will be, in the unit of the resource.
type QuotaChange struct {
	Namespace string `json:"namespace,omitempty"`
	Quota     string `json:"quota"`
	Resource  string `json:"resource"`
	Unit      Unit   `json:"unit"`
	// RuntimeBefore and RuntimeAfter follow from the pods and nodes as they are now.
	RuntimeBefore int64 `json:"runtimeBefore"`
	RuntimeAfter  int64 `json:"runtimeAfter"`
	// Used is what its pods with a node request.
	Used int64 `json:"used"`
}

// ChangedPod is a waiting pod whose admission changes.
type ChangedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Quota     string `json:"quota"`
	// Message says what it lacks, before the change or after it.
	Message string `json:"message"`
}
