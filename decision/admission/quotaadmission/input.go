package quotaadmission

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// Options apply to all quotas.
type Options struct {
	// UpdateResourceKeys lets a quota limit fewer resources than its parent; otherwise both limit the same. It stands for
	// upstream's feature gate ElasticQuotaEnableUpdateResourceKey.
	UpdateResourceKeys bool
	// GuaranteeUsage asks the ancestors of a quota in a tree with an ID to cover a min that is raised beyond what the quota
	// has. It stands for upstream's feature gate ElasticQuotaGuaranteeUsage.
	GuaranteeUsage bool
	// Protect asks who writes a quota that reaches for what belongs to others for the right to do so. Upstream does not.
	Protect bool
	// AllowParentPods lets quotas with pods or namespaces become parents. It stands for upstream's feature gate SupportParentQuotaSubmitPod.
	AllowParentPods bool
}

// Input is everything that decides about one request.
type Input struct {
	// Quota as it is to be; nil when it is deleted.
	Quota *Quota
	// Old is the quota as it was; nil when it is created.
	Old *Quota
	// Undecoded are annotations of Quota that cannot be decoded.
	Undecoded []error
	// Quotas are all others; the quota itself may be among them.
	Quotas *Index
	// Pod is a pod that belongs to the quota, as namespace/name; "" when there is none. It matters where NeedsPods says so.
	Pod string
	// Total is what all nodes have; where it is empty, no min is compared with it.
	Total corev1.ResourceList
	// Held are the rights that the requester has, of those that Rights returns.
	Held map[Right]bool
	// Options apply to all quotas.
	Options Options
}

// NeedsPods reports whether the answer depends on the pods of the quota: when it is deleted or becomes a parent.
func NeedsPods(quota, old *Quota) bool {
	return old != nil && (quota == nil || quota.IsParent && !old.IsParent)
}

// NeedsTotal reports whether the answer depends on Total: when the min of a quota at the top of a tree grows.
func NeedsTotal(in Input) bool {
	q, old := in.Quota, in.Old
	if q == nil || q.builtIn() || !q.belowRoot() || q.rootsTree() {
		return false
	}
	return old == nil || old.Parent != q.Parent || old.TreeID != q.TreeID ||
		slices.ContainsFunc(keys(q.Min), func(name corev1.ResourceName) bool { return grown(q.Min, old.Min, name) })
}

// Finding is one thing that is wrong with the request.
type Finding struct {
	// Code of the catalogue, which has cause and fix.
	Code finding.Code `json:"code"`
	// Refused is true when the request is refused for it; otherwise the finding is a warning.
	Refused bool `json:"refused"`
	// Field that is wrong.
	Field string `json:"field"`
	// Message says what is wrong.
	Message string `json:"message"`
}

// Text is the finding with field and code.
func (f Finding) Text() string { return f.Field + ": " + f.Message + " (" + string(f.Code) + ")" }

// Sum is one comparison of what the children of a quota are guaranteed with what the quota is.
type Sum struct {
	// Quota whose children are added up.
	Quota string `json:"quota"`
	// Resource that is added up.
	Resource corev1.ResourceName `json:"resource"`
	// Others is the sum of the children, without the quota in question.
	Others resource.Quantity `json:"others"`
	// Own is the part of the quota in question; zero where its own children are added up.
	Own resource.Quantity `json:"own"`
	// Limit is the min of Quota.
	Limit resource.Quantity `json:"limit"`
	// Exceeded is true when Others and Own are more than Limit.
	Exceeded bool `json:"exceeded"`
}

// Guarantee is how the ancestors of a quota cover what its min is raised by.
type Guarantee struct {
	// Quota above that is asked.
	Quota string `json:"quota"`
	// Resource that is to be covered.
	Resource corev1.ResourceName `json:"resource"`
	// Wanted is what was not covered further down.
	Wanted resource.Quantity `json:"wanted"`
	// Spare is what Quota is guaranteed and has not promised.
	Spare resource.Quantity `json:"spare"`
}

// Verdict is the answer and how it came about.
type Verdict struct {
	// Findings, refusals and warnings, in the order of the checks.
	Findings []Finding `json:"findings,omitempty"`
	// Ancestors of the quota, the nearest first.
	Ancestors []string `json:"ancestors,omitempty"`
	// Sums that were compared.
	Sums []Sum `json:"sums,omitempty"`
	// Guarantees that were asked for.
	Guarantees []Guarantee `json:"guarantees,omitempty"`
}

// Refused reports whether a finding refuses the request.
func (v *Verdict) Refused() bool {
	for i := range v.Findings {
		if v.Findings[i].Refused {
			return true
		}
	}
	return false
}

// DependsOnOthers reports whether a refusal may be due to quotas that changed a moment ago.
func (v *Verdict) DependsOnOthers() bool {
	for i := range v.Findings {
		switch v.Findings[i].Code {
		case finding.QuotaInvalid, finding.QuotaBuiltIn, finding.QuotaTreeImmutable, finding.QuotaMaxBelowUsed, finding.QuotaHasPods,
			finding.QuotaParentNamespaces, finding.QuotaRightLacking:
			if v.Findings[i].Refused {
				return false
			}
		}
	}
	return v.Refused()
}
