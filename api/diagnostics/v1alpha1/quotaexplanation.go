package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxQuotaPods is how many pods that use a quota, and as many that do not fit, koord-scheduler names of it.
const MaxQuotaPods = 100

// QuotaExplanation says where the runtime of an ElasticQuota comes from, who uses it, and which pods do not fit: `koordctl explain quota`.
//
// +kubebuilder:object:root=true
type QuotaExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	QuotaFacts        `json:",inline"`

	// Divisions say of each resource how the runtime was computed; absent when the pods or nodes could not be read, and for quotas that
	// take no part in sharing.
	// +optional
	Divisions []QuotaDivision `json:"divisions,omitempty"`
	// Pods that use the quota or a quota below it, the largest first, and PodsOmitted how many more there are.
	// +optional
	Pods []QuotaPod `json:"pods,omitempty"`
	// +optional
	PodsOmitted int32 `json:"podsOmitted,omitempty"`
	// Refused are the pods without a node that do not fit, the largest first, and RefusedOmitted how many more there are.
	// +optional
	Refused []QuotaRefusal `json:"refused,omitempty"`
	// +optional
	RefusedOmitted int32 `json:"refusedOmitted,omitempty"`
	// Findings about the quota, such as resources that it does not count.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// QuotaDivision says how one resource of the parent was divided among its children, this quota among them. Amounts are in the
// resource's unit.
type QuotaDivision struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Parent whose runtime was divided; koordinator-root-quota for the total of the tree.
	Parent string `json:"parent"`
	// Path are the runtimes of the quotas above, the total of the tree first.
	// +optional
	Path []QuotaLevel `json:"path,omitempty"`
	// Total that was divided, LeftOver what was left of it after each child had its guarantee, and Unshared what no child requests.
	Total    int64 `json:"total"`
	LeftOver int64 `json:"leftOver"`
	Unshared int64 `json:"unshared"`
	// Shares of the children, in order of their names.
	Shares []QuotaShare `json:"shares"`
	// Rounds in which the left-over was divided by weight.
	// +optional
	Rounds []QuotaRound `json:"rounds,omitempty"`
	// Loans that this quota gave or got.
	// +optional
	Loans []QuotaLoan `json:"loans,omitempty"`
	// Runtime that follows from the pods and nodes now; the published one may be up to two minutes old.
	Runtime int64 `json:"runtime"`
	// Max is the most that the runtime grows to; absent without a limit.
	// +optional
	Max *int64 `json:"max,omitempty"`
	// Used is what the pods with a node request, and Available what another pod may still request.
	Used      int64 `json:"used"`
	Available int64 `json:"available"`
	// AvailableBound is the quota that bounds Available: this one, or one above it.
	AvailableBound string `json:"availableBound"`
	// Return says who would use more than their runtime if this quota requested all of its min.
	// +optional
	Return *QuotaReturn `json:"return,omitempty"`
}

// QuotaLevel is the runtime of one quota above.
type QuotaLevel struct {
	Quota   string `json:"quota"`
	Runtime int64  `json:"runtime"`
}

// QuotaShare is the part of one child.
type QuotaShare struct {
	Quota string `json:"quota"`
	Min   int64  `json:"min"`
	// Guaranteed is what the min counts for now: less where the mins add up to more than there is, more where usage is guaranteed.
	Guaranteed int64 `json:"guaranteed"`
	// Capped is true where the mins add up to more than there is.
	// +optional
	Capped bool `json:"capped,omitempty"`
	// Weight by which the left-over is divided.
	Weight int64 `json:"weight"`
	// Request, no more than max.
	Request int64 `json:"request"`
	// Lent is what others may use of the guarantee, and Borrowed what the child got beyond its own.
	// +optional
	Lent int64 `json:"lent,omitempty"`
	// +optional
	Borrowed int64 `json:"borrowed,omitempty"`
	Runtime  int64 `json:"runtime"`
}

// QuotaRound is one division of what was left over. Who got more than it requests returned the rest to the next round.
type QuotaRound struct {
	LeftOver int64       `json:"leftOver"`
	Gains    []QuotaGain `json:"gains"`
}

// QuotaGain is what a child got in a round, and what it returned.
type QuotaGain struct {
	Quota string `json:"quota"`
	Got   int64  `json:"got"`
	// +optional
	Returned int64 `json:"returned,omitempty"`
}

// QuotaLoan is what a quota uses of the guarantee of another, or of what no guarantee covers, where From is empty.
type QuotaLoan struct {
	// +optional
	From   string `json:"from,omitempty"`
	To     string `json:"to"`
	Amount int64  `json:"amount"`
}

// QuotaReturn says what keeps lent min from being used by its owner at once.
type QuotaReturn struct {
	// Min that was lent or is not reached.
	Amount int64 `json:"amount"`
	// Holders are the quotas that would use more than their runtime, those with the largest excess first.
	Holders []QuotaHolder `json:"holders"`
	// Revokes is true where koord-scheduler evicts pods of such quotas (monitorAllQuotas), AfterSeconds later.
	Revokes bool `json:"revokes"`
	// +optional
	AfterSeconds int64 `json:"afterSeconds,omitempty"`
}

// QuotaHolder is a quota that would use more than its runtime.
type QuotaHolder struct {
	Quota string `json:"quota"`
	// Used now, the Runtime it would have, and Excess between them.
	Used    int64 `json:"used"`
	Runtime int64 `json:"runtime"`
	Excess  int64 `json:"excess"`
	// NonPreemptible is what of Used is never evicted.
	// +optional
	NonPreemptible int64 `json:"nonPreemptible,omitempty"`
}

// QuotaPod is a pod that uses a quota.
type QuotaPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Quota of the pod, where that is not the one that is explained.
	// +optional
	Quota string `json:"quota,omitempty"`
	// NodeName is empty for a pod that waits.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// NonPreemptible pods are never evicted for a quota.
	// +optional
	NonPreemptible bool `json:"nonPreemptible,omitempty"`
	// Requests of the resources that the quota counts.
	// +optional
	Requests []ForecastAmount `json:"requests,omitempty"`
}

// QuotaRefusal is a pod that does not fit.
type QuotaRefusal struct {
	QuotaPod `json:",inline"`
	// Code of the refusal, and Message with its numbers.
	Code    string `json:"code"`
	Message string `json:"message"`
}
