package quotaadmission

import (
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// role: only parents hold children, and parents hold no pods.
func (v *validation) role() {
	is, was := v.Quota.IsParent, v.Old != nil && v.Old.IsParent
	if !is && (was || v.Old == nil) {
		if count, example := v.Quotas.children(v.Quota.Name); count > 0 {
			v.refuse(finding.QuotaHasChildren, fieldIsParent, "Forbidden: quota %s has %d child quota(s), such as %s, so it must remain a parent", v.Quota.Name, count, example)
		}
	}
	if is && !was && v.Old != nil && v.Pod != "" && !v.Options.AllowParentPods {
		v.refuse(finding.QuotaHasPods, fieldIsParent, "Forbidden: quota %s has bound pods, such as %s, isParent is forbidden to modify as true", v.Quota.Name, v.Pod)
	}
}

// tree: a quota stays in its tree, which is that of its parent and its children.
func (v *validation) tree() {
	q := v.Quota
	changed := v.Old != nil && v.Old.TreeID != q.TreeID
	if changed {
		v.refuse(finding.QuotaTreeImmutable, fieldTreeID, "Invalid value: %q: field is immutable, it was %q", q.TreeID, v.Old.TreeID)
	}
	if parent := v.knownParent(); parent != nil && (changed || v.moved()) && parent.TreeID != q.TreeID {
		v.refuse(finding.QuotaTreeMismatch, fieldTreeID, "Invalid value: %q: the parent %s is in tree %q", q.TreeID, parent.Name, parent.TreeID)
	}
	children := v.Quotas.below[q.Name]
	if children == nil || v.Old != nil && !changed {
		return
	}
	for id := range children.trees {
		if id != q.TreeID {
			v.refuse(finding.QuotaTreeMismatch, fieldTreeID, "Invalid value: %q: the quota has children in tree %q", q.TreeID, id)
			return
		}
	}
}

// knownParent is the quota above, nil for none and for the root.
func (v *validation) knownParent() *Quota {
	if v.Quota.belowRoot() {
		return nil
	}
	return v.Quotas.Get(v.Quota.Parent)
}

// parent checks a parent that is new, and collects the ancestors. It reports whether there is a parent to compare with: the
// root, or one that is sound.
func (v *validation) parent() bool {
	q := v.Quota
	if q.belowRoot() {
		return true
	}
	parent := v.knownParent()
	switch {
	case !v.moved() && parent == nil:
		return false
	case parent == nil:
		v.refuse(finding.QuotaParentMissing, fieldParent, "Not found: %q: the parent quota does not exist", q.Parent)
		return false
	case v.moved() && (!parent.IsParent || extension.IsBuiltInQuota(parent.Name)):
		v.refuse(finding.QuotaParentUnfit, fieldParent, "Invalid value: %q: the parent quota's isParent is false", q.Parent)
		return false
	}
	return v.ancestors(parent)
}

// ancestors walks up from the parent, and refuses when it leads back to the quota.
func (v *validation) ancestors(parent *Quota) bool {
	seen := map[string]bool{}
	for above := parent; above != nil && !seen[above.Name]; {
		if above.Name == v.Quota.Name {
			if v.moved() {
				v.refuse(finding.QuotaCycle, fieldParent, "Invalid value: %q: the parent is the quota itself or one of its descendants", v.Quota.Parent)
			}
			return false
		}
		seen[above.Name] = true
		v.verdict.Ancestors = append(v.verdict.Ancestors, above.Name)
		if above.belowRoot() {
			break
		}
		above = v.Quotas.Get(above.Parent)
	}
	return true
}
