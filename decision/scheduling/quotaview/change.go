package quotaview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Change is the question what happens if a quota were another.
type Change struct {
	// Input as it is now; its Quota is not used.
	Input
	// To is the quota as it is to be. One of its namespace and name is among the Objects.
	To *schedulingsigsv1alpha1.ElasticQuota
	// Edits that make it.
	Edits []diagnosticsv1alpha1.QuotaEdit
	// Refused is true where koord-manager refuses the change, and Findings are what it says of it.
	Refused  bool
	Findings []diagnosticsv1alpha1.Finding
}

// Forecast says what a change of a quota does: which runtimes change, which quotas would use more than theirs, and which waiting pods fit
// then. It arranges and divides as koord-scheduler does.
func Forecast(in Change) *diagnosticsv1alpha1.QuotaForecast {
	out := &diagnosticsv1alpha1.QuotaForecast{Edits: in.Edits, Findings: slices.Clone(in.Findings)}
	out.Namespace, out.Name = in.To.Namespace, in.To.Name
	f := &forecast{Change: in, out: out}
	if !in.Unseen {
		changed := in.Input
		changed.Objects = f.objects()
		f.before, f.after = newDivided(&in.Input), newDivided(&changed)
		f.runtimes()
		f.pods()
	}
	f.conclude()
	return out
}

// divided are all quotas with what their pods request.
type divided struct {
	args      *quota.Args
	forest    *quota.Forest
	belonging quota.Belonging
}

func newDivided(in *Input) *divided {
	d := &divided{}
	d.args, d.forest, d.belonging = arrange(in)
	return d
}

// runtime of a resource of a quota, and what is used of it; false where the quota takes no part in sharing it.
func (d *divided) runtime(name string, resource corev1.ResourceName) (runtime, used int64, found bool) {
	tree := d.forest.Tree(name)
	if tree == nil {
		return 0, 0, false
	}
	status, _ := tree.Status(name)
	runtime, found = status.Runtime.Get(resource)
	used, _ = status.Used.Get(resource)
	return runtime, used, found
}

// lacks says what a pod lacks of its quota, or of one above; empty when it fits.
func (d *divided) lacks(pod *corev1.Pod) (name, message string) {
	name = d.forest.QuotaOf(d.belonging, pod)
	tree := d.forest.Tree(name)
	if tree == nil {
		return name, ""
	}
	var admission quota.Admission
	tree.Admission(name, quota.HoldingOf(pod), d.args.Rules(), &admission)
	verdict := admission.Verdict()
	if verdict.Passed() {
		return name, ""
	}
	return name, quota.Message(tree.Shortages(&admission, verdict))
}

// forecast is one call of Forecast.
type forecast struct {
	Change
	before, after *divided
	out           *diagnosticsv1alpha1.QuotaForecast
	// over are the quotas that use more than their runtime after the change and not before.
	over []string
}

// objects are all quotas after the change.
func (f *forecast) objects() []schedulingsigsv1alpha1.ElasticQuota {
	all := slices.Clone(f.Objects)
	for i := range all {
		if all[i].Namespace == f.To.Namespace && all[i].Name == f.To.Name {
			all[i] = *f.To
		}
	}
	return all
}

// runtimes lists what changes.
func (f *forecast) runtimes() {
	for _, id := range f.after.forest.TreeIDs() {
		for spec := range f.after.forest.ByID(id).Quotas {
			status, _ := f.after.forest.ByID(id).Status(spec.Name)
			for _, part := range status.Runtime {
				f.runtime(spec, part.Resource, part.Value)
			}
		}
	}
	slices.SortFunc(f.out.Quotas, func(a, b diagnosticsv1alpha1.QuotaChange) int {
		return cmp.Or(strings.Compare(a.Quota, b.Quota), strings.Compare(a.Resource, b.Resource))
	})
	slices.Sort(f.over)
	f.over = slices.Compact(f.over)
}

func (f *forecast) runtime(spec *quota.Spec, resource corev1.ResourceName, after int64) {
	before, used, found := f.before.runtime(spec.Name, resource)
	if !found {
		before = 0
	}
	was, is := found && used > before, used > after
	if before == after && is == was {
		return
	}
	if is && !was {
		f.over = append(f.over, spec.Name)
	}
	f.out.Quotas = append(f.out.Quotas, diagnosticsv1alpha1.QuotaChange{
		Namespace: spec.Namespace, Quota: spec.Name, Resource: string(resource), Unit: amount.UnitOf(resource), RuntimeBefore: before, RuntimeAfter: after, Used: used,
	})
}

// pods lists the waiting pods whose admission changes.
func (f *forecast) pods() {
	for i := range f.Pods {
		pod := &f.Pods[i]
		if pod.Spec.NodeName != "" || !podrequest.Consumes(pod) {
			continue
		}
		_, lacked := f.before.lacks(pod)
		name, lacks := f.after.lacks(pod)
		row := diagnosticsv1alpha1.ChangedPod{Namespace: pod.Namespace, Name: pod.Name, Quota: name, Message: lacked + lacks}
		switch {
		case lacked == "" && lacks != "":
			f.out.Refused = append(f.out.Refused, row)
		case lacked != "" && lacks == "":
			f.out.Admitted = append(f.out.Admitted, row)
		}
	}
	f.out.Admitted, f.out.AdmittedOmitted = f.limited(f.out.Admitted)
	f.out.Refused, f.out.RefusedOmitted = f.limited(f.out.Refused)
}

func (f *forecast) limited(pods []diagnosticsv1alpha1.ChangedPod) ([]diagnosticsv1alpha1.ChangedPod, int32) {
	slices.SortFunc(pods, func(a, b diagnosticsv1alpha1.ChangedPod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	most := min(f.Limit, len(pods))
	return pods[:most:most], int32(len(pods) - most)
}

// conclude fills in the verdict, the sentence and the notes.
func (f *forecast) conclude() {
	name := f.To.Namespace + "/" + f.To.Name
	switch {
	case f.Refused:
		f.out.Verdict, f.out.Message = diagnosticsv1alpha1.QuotaForecastRefused, "koord-manager refuses the change of quota "+name
	case f.Unseen:
		f.out.Verdict, f.out.Message = diagnosticsv1alpha1.QuotaForecastUnknown, "koord-manager allows the change of quota "+name+"; what follows from it is unknown"
	case len(f.out.Quotas) == 0:
		f.out.Verdict, f.out.Message = diagnosticsv1alpha1.QuotaForecastUnchanged, "no runtime changes"
	default:
		f.out.Verdict, f.out.Message = diagnosticsv1alpha1.QuotaForecastChanges, f.message()
	}
	if len(f.over) > 0 {
		f.overused()
	}
	if len(f.out.Admitted)+len(f.out.Refused) > 0 {
		f.out.Notes = append(f.out.Notes, "each waiting pod is held against its quota by itself, and needs a node besides")
	}
}

func (f *forecast) message() string {
	quotas := map[string]bool{}
	for i := range f.out.Quotas {
		quotas[f.out.Quotas[i].Quota] = true
	}
	parts := []string{fmt.Sprintf("the runtime of %s changes", phrase.Counted(len(quotas), "quota"))}
	for _, part := range []struct {
		n    int
		what string
	}{
		{len(f.out.Admitted) + int(f.out.AdmittedOmitted), "more fit into their quotas"}, {len(f.out.Refused) + int(f.out.RefusedOmitted), "no longer fit into their quotas"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", part.what, phrase.Counted(part.n, "waiting pod")))
		}
	}
	if len(f.over) > 0 {
		parts = append(parts, "more used than the runtime: "+strings.Join(f.over, ", "))
	}
	return strings.Join(parts, "; ")
}

// overused says what koord-scheduler does about quotas that use more than their runtime.
func (f *forecast) overused() {
	text := "koord-scheduler does not evict their pods (monitorAllQuotas is off); no pod is added until they use less"
	if *f.after.args.MonitorAllQuotas {
		text = fmt.Sprintf("koord-scheduler evicts pods of them after %s, those of the lowest priority first", f.after.args.DelayEvictTime.Duration)
	}
	f.out.Notes = append(f.out.Notes, "quotas that use more than their runtime: "+text)
	for _, name := range f.over {
		f.out.Findings = append(f.out.Findings, diagnosticsv1alpha1.Finding{
			Code: string(finding.QuotaOverused), Severity: diagnosticsv1alpha1.SeverityWarning, Message: "quota " + name + " would use more than its runtime",
			Object: &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Name: name},
		})
	}
}
