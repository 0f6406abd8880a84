package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/quotaprofile"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// quotaIndex finds the ElasticQuotas of pods.
type quotaIndex struct {
	belonging quota.Belonging
	named     map[string]quota.Namesakes
}

func indexOf(quotas []schedulingsigsv1alpha1.ElasticQuota) *quotaIndex {
	index := &quotaIndex{named: map[string]quota.Namesakes{}}
	all := make(quota.Namesakes, len(quotas))
	for i := range quotas {
		q := &quotas[i]
		all[i], index.named[q.Name] = q, append(index.named[q.Name], q)
	}
	index.belonging = quota.BelongingTo(all.Specs())
	return index
}

// named are the ElasticQuotas with the name that the pod asks for; the name is empty when it asks for none.
func (a *Admission) named() (string, quota.Namesakes) {
	if a.in.index == nil {
		a.in.index = indexOf(a.in.Quotas)
	}
	name := a.in.index.belonging.Name(a.after)
	return name, a.in.index.named[name]
}

// confine restricts the pod to the nodes of its quota tree.
func (a *Admission) confine() error {
	if !a.in.Settings.QuotaTrees || a.exempt() || a.in.Unread.QuotaProfiles {
		return nil
	}
	_, named := a.named()
	tree := named.TreeOf(a.after)
	confined := confinedTo(a.after, tree, a.in.QuotaProfiles)
	changes, err := podChanges(a.after, confined, nil)
	if err != nil {
		return err
	}
	for i := range changes {
		changes[i].By = "quota tree " + tree
	}
	a.out.Changes = append(a.out.Changes, changes...)
	a.after, a.drawn = confined, confinedTo(a.drawn, tree, a.in.QuotaProfiles)
	return nil
}

// confinedTo is a pod with the node affinity of a quota tree.
func confinedTo(pod *corev1.Pod, tree string, profiles []quotav1alpha1.ElasticQuotaProfile) *corev1.Pod {
	confined := pod.DeepCopy()
	confined.Spec.Affinity, _ = quotaprofile.Confine(pod, tree, profiles)
	return confined
}

// place finds the quota of the pod.
func (a *Admission) place() {
	pod := a.after
	if name, named := a.named(); name != "" {
		a.quota = &podvalidation.Quota{Name: name, Exists: len(named) > 0, Parent: named.Parent()}
		if counts := named.Counting(); counts != nil {
			a.quota.Namespace, a.quota.Serves = counts.Namespace, counts.Serves(pod.Namespace)
		}
	}
	if a.in.Placer == nil {
		return
	}
	a.out.Quota = a.in.Placer.Place(pod)
	if a.in.Unread.Quotas && a.out.Quota.Name == extension.DefaultQuotaName {
		a.out.Quota = nil // it may belong to one that could not be read
		return
	}
	if !slices.Contains(a.in.Schedulers, pod.Spec.SchedulerName) && a.out.Quota.Fit != diagnosticsv1alpha1.QuotaFitUnknown {
		a.out.Quota.Fit, a.out.Quota.Code, a.out.Quota.Message = diagnosticsv1alpha1.QuotaNotLimited, "", ""
	}
}
