package objects

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/quotaadmission"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
)

// AdmissionWebhooks is the name of the configuration in which koord-manager registers its mutating webhooks.
const AdmissionWebhooks = "koordinator-admission"

// AdmissionSnapshot is what was read of the cluster to say what admission would do with pods. None of it is changed. It must not be used
// by two goroutines at a time.
type AdmissionSnapshot struct {
	Profiles        []configv1alpha1.ClusterColocationProfile
	PriorityClasses []schedulingv1.PriorityClass
	Quotas          []schedulingsigsv1alpha1.ElasticQuota
	QuotaProfiles   []quotav1alpha1.ElasticQuotaProfile
	// Namespaces by name; nil for one that does not exist. One that could not be read is not among them.
	Namespaces map[string]*corev1.Namespace
	// Placer says which quota a pod gets; nil where there are no ElasticQuotas.
	Placer *quotaview.Placer
	// Schedulers are the names of the profiles of koord-scheduler.
	Schedulers []string
	Settings   AdmissionSettings
	// Unserved says why no MutatingAdmissionPolicy is used; empty where one is.
	Unserved string
	// Unregistered says why no webhook of koord-manager sees the pod; empty where they are registered, or that is not known.
	Unregistered string
	// Unread are the inputs that could not be read.
	Unread AdmissionUnread
	// index of Quotas, made when it is first needed.
	index *quotaIndex
}

// AdmissionUnread are the inputs of admission that could not be read.
type AdmissionUnread struct{ Profiles, PriorityClasses, Quotas, QuotaProfiles, Policy bool }

// Admission is an answer about one pod that still lacks what only the API server knows.
type Admission struct {
	in     *AdmissionSnapshot
	before *corev1.Pod
	// after is the pod as admitted, and drawn the same if all profiles that select it by their probability applied.
	after, drawn *corev1.Pod
	trace        colocationprofile.Trace
	quota        *podvalidation.Quota
	// unsure says why it is not certain what becomes of the pod, and unsureQuota why it is not whether its quota admits it.
	unsure, unsureQuota []string
	out                 *diagnosticsv1alpha1.AdmissionExplanation
}

// NewAdmission decides what admission does with a pod.
func NewAdmission(in *AdmissionSnapshot, pod source.AdmissionPod) (*Admission, error) {
	a := &Admission{in: in, out: &diagnosticsv1alpha1.AdmissionExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "AdmissionExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Pod.Namespace, Name: cmp.Or(pod.Name, pod.Pod.GenerateName)},
		Object:     diagnosticsv1alpha1.AdmissionObject{APIVersion: pod.APIVersion, Kind: pod.Kind, Document: int32(pod.Document)},
	}}
	a.before = a.defaulted(pod.Pod)
	a.readiness()
	if err := a.mutate(); err != nil {
		return nil, err
	}
	if err := a.confine(); err != nil {
		return nil, err
	}
	a.place()
	return a, nil
}

// Use is the permission that lets the pod be in its quota. It is false where none is needed.
func (a *Admission) Use() (quotaadmission.Right, bool) {
	q := a.quota
	if q == nil || !q.Exists || q.Serves || !a.in.Settings.Validation.ProtectQuotas || a.exempt() {
		return quotaadmission.Right{}, false
	}
	return quotaadmission.UseOf(q.Namespace, q.Name), true
}

// Before is the pod as it reaches admission.
func (a *Admission) Before() *corev1.Pod { return a.before }

func (a *Admission) exempt() bool {
	return slices.Contains(a.in.Settings.Profiles.ExemptNamespaces, a.before.Namespace)
}

// readiness notes what could not be read, and a namespace that does not exist.
func (a *Admission) readiness() {
	if a.in.Unread.Profiles {
		a.unsure = append(a.unsure, "the ClusterColocationProfiles could not be read")
	}
	if a.in.Unread.PriorityClasses {
		a.unsure = append(a.unsure, "the PriorityClasses could not be read")
	}
	if a.in.Unread.Quotas && !a.exempt() {
		a.unsureQuota = append(a.unsureQuota, "not all ElasticQuotas could be read")
	}
	if namespace, read := a.in.Namespaces[a.before.Namespace]; read && namespace == nil {
		a.refuseBefore(finding.NotFound, fmt.Sprintf("namespace %q does not exist", a.before.Namespace), "kubectl create namespace "+a.before.Namespace)
	}
}

// input of the profiles; without the profiles that cannot be matched.
func (a *Admission) input() (in colocationprofile.Input, unmatched []string) {
	in = colocationprofile.Input{
		Pod: a.before, Namespace: a.before.Namespace, PriorityClasses: classesOf(a.in.PriorityClasses), Options: a.in.Settings.Profiles,
		NamespaceLabels: map[string]string{corev1.LabelMetadataName: a.before.Namespace}, Profiles: a.in.Profiles,
	}
	namespace, read := a.in.Namespaces[a.before.Namespace]
	if namespace != nil {
		in.NamespaceLabels = namespace.Labels
	}
	if read || a.exempt() {
		return in, nil
	}
	in.Profiles = nil
	for i := range a.in.Profiles {
		if asksForLabels(&a.in.Profiles[i]) {
			unmatched = append(unmatched, a.in.Profiles[i].Name)
		} else {
			in.Profiles = append(in.Profiles, a.in.Profiles[i])
		}
	}
	return in, unmatched
}

// asksForLabels is true for a profile that needs more of a namespace than its name.
func asksForLabels(profile *configv1alpha1.ClusterColocationProfile) bool {
	selectors, err := colocationprofile.SelectorsOf(profile)
	if err != nil {
		return false // such a profile applies to no pod
	}
	for i := range selectors.Namespace {
		if selectors.Namespace[i].Key() != corev1.LabelMetadataName {
			return true
		}
	}
	return false
}

// mutate applies the profiles.
func (a *Admission) mutate() error {
	in, unmatched := a.input()
	if len(unmatched) > 0 {
		a.unsure = append(a.unsure, fmt.Sprintf("the labels of namespace %s could not be read", in.Namespace))
	}
	after, err := colocationprofile.Decide(in, &a.trace)
	if err != nil {
		if !a.in.Unread.PriorityClasses || colocationprofile.CodeOf(err) != finding.AdmissionPriorityClassMissing {
			a.refuse(colocationprofile.CodeOf(err), err.Error())
		}
		after = a.before.DeepCopy()
	}
	after.Namespace = in.Namespace
	a.after, a.drawn = after, after
	var drawn colocationprofile.Trace
	if err == nil && a.anyProbable(in.Profiles) {
		in.Chance = func(string) int { return 0 }
		if all, err := colocationprofile.Decide(in, &drawn); err == nil {
			a.drawn = all
		}
	}
	compiled := policy.Compile(in.Profiles, in.PriorityClasses, policy.Options{Options: in.Options, Unserved: a.in.Unserved})
	a.path(compiled, in.NamespaceLabels)
	a.profiles(compiled, drawn, unmatched)
	return a.changes()
}

func classesOf(list []schedulingv1.PriorityClass) map[string]colocationprofile.PriorityClass {
	classes := make(map[string]colocationprofile.PriorityClass, len(list))
	for i := range list {
		classes[list[i].Name] = colocationprofile.ClassOf(&list[i])
	}
	return classes
}
