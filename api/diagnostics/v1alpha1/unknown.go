package v1alpha1

// UnknownReason says why an input could not be read.
//
// +kubebuilder:validation:Enum=Forbidden;Failed;NotAvailable
type UnknownReason string

const (
	// UnknownForbidden means that RBAC does not let the user read it.
	UnknownForbidden UnknownReason = "Forbidden"
	// UnknownFailed means that the request failed, or that the answer could not be read.
	UnknownFailed UnknownReason = "Failed"
	// UnknownNotAvailable means that no object holds it: only a component that was not asked, or did not answer, knows it.
	UnknownNotAvailable UnknownReason = "NotAvailable"
)

// UnknownInput is an input of an answer that could not be read. What depends on it is absent from the answer, or says that it
// is unknown; it is never taken to be zero, none or the default.
type UnknownInput struct {
	// Input in the words of RBAC, with its API group: pods, nodemetrics.slo.koordinator.sh, configmaps/slo-controller-config.
	Input string `json:"input"`
	// Reason in one word.
	Reason UnknownReason `json:"reason"`
	// Message is the error of reading it.
	// +optional
	Message string `json:"message,omitempty"`
}
