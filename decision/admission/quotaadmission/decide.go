package quotaadmission

import (
	"fmt"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Fields that findings name.
const (
	fieldName       = "metadata.name"
	fieldParent     = "labels." + extension.LabelQuotaParent
	fieldIsParent   = "labels." + extension.LabelQuotaIsParent
	fieldTreeID     = "labels." + extension.LabelQuotaTreeID
	fieldNamespaces = "annotations." + extension.AnnotationQuotaNamespaces
	fieldWeight     = "annotations." + extension.AnnotationQuotaSharedWeight
	fieldStrict     = "annotations." + extension.AnnotationQuotaMaxStrictCheckResourceKeys
	fieldMin        = "spec.min"
	fieldMax        = "spec.max"
)

// Validate answers one request. What was wrong before an update, and is not made worse by it, is not held against the update:
// a quota from the time before admission must remain editable.
func Validate(in Input) Verdict {
	v := &validation{Input: in}
	if in.Quota == nil {
		v.deletion()
		return v.verdict
	}
	v.undecoded()
	v.self()
	v.rights()
	if in.Quota.builtIn() {
		v.builtInShape()
		return v.verdict
	}
	v.nameTaken()
	v.role()
	v.namespaces()
	v.parentNamespaces()
	v.tree()
	v.total()
	if in.Quota.belowRoot() && !in.Quota.IsParent {
		return v.verdict
	}
	if !v.parent() {
		return v.verdict
	}
	v.keys()
	v.sums()
	v.guarantee()
	return v.verdict
}

type validation struct {
	Input
	verdict Verdict
}

func (v *validation) refuse(code finding.Code, field, format string, args ...any) {
	v.verdict.Findings = append(v.verdict.Findings, Finding{Code: code, Refused: true, Field: field, Message: fmt.Sprintf(format, args...)})
}

func (v *validation) warn(code finding.Code, field, format string, args ...any) {
	v.verdict.Findings = append(v.verdict.Findings, Finding{Code: code, Field: field, Message: fmt.Sprintf(format, args...)})
}

// moved is true when the quota is new where it is.
func (v *validation) moved() bool { return v.Old == nil || v.Old.Parent != v.Quota.Parent }

// undecoded warns about annotations that the scheduler will take for absent.
func (v *validation) undecoded() {
	for _, err := range v.Undecoded {
		v.warn(finding.QuotaInvalid, "annotations", "%v; it is ignored", err)
	}
}

// nameTaken refuses a name that a quota of another namespace has: the scheduler identifies quotas by name alone.
func (v *validation) nameTaken() {
	if other := v.Quotas.Get(v.Quota.Name); v.Old == nil && other != nil && other.Namespace != v.Quota.Namespace {
		v.refuse(finding.QuotaNameTaken, fieldName, "Duplicate value: %q: a quota of this name exists in namespace %s", v.Quota.Name, other.Namespace)
	}
}

// builtInShape: the default and the system quota hold pods, and the root is above all.
func (v *validation) builtInShape() {
	q := v.Quota
	if q.Name != extension.RootQuotaName && q.IsParent && (v.Old == nil || !v.Old.IsParent) {
		v.refuse(finding.QuotaBuiltIn, fieldIsParent, "Forbidden: quota %s cannot be a parent", q.Name)
	}
	if !q.belowRoot() && v.moved() {
		v.refuse(finding.QuotaBuiltIn, fieldParent, "Forbidden: quota %s cannot be a child of %s", q.Name, q.Parent)
	}
	if q.TreeID != "" && (v.Old == nil || v.Old.TreeID != q.TreeID) {
		v.refuse(finding.QuotaBuiltIn, fieldTreeID, "Forbidden: quota %s belongs to the default tree", q.Name)
	}
}

// deletion: nothing may depend on a quota that goes. One that does not count, because an older one has its name, may always go.
func (v *validation) deletion() {
	old := v.Old
	if old.builtIn() {
		v.refuse(finding.QuotaBuiltIn, fieldName, "Forbidden: cannot delete built-in quota %s", old.Name)
		return
	}
	if counts := v.Quotas.Get(old.Name); counts != nil && counts.Namespace != old.Namespace {
		return
	}
	if count, example := v.Quotas.children(old.Name); count > 0 {
		v.refuse(finding.QuotaHasChildren, fieldName, "Forbidden: delete quota failed, quota %s has child quota, %d of them, such as %s", old.Name, count, example)
	}
	if v.Pod != "" {
		v.refuse(finding.QuotaHasPods, fieldName, "Forbidden: delete quota failed, quota %s has child pods, such as %s", old.Name, v.Pod)
	}
}
