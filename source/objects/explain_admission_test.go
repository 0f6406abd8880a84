package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/test/profilecases"
)

func TestSettingsOfTheManager(t *testing.T) {
	tests := map[string]struct {
		arguments []string
		edit      func(*AdmissionSettings)
	}{
		"by default":               {edit: func(*AdmissionSettings) {}},
		"a flag alone is true":     {arguments: []string{"--require-quota"}, edit: func(s *AdmissionSettings) { s.Validation.RequireQuota = true }},
		"one that is turned off":   {arguments: []string{"--protect-quotas=false"}, edit: func(s *AdmissionSettings) { s.Validation.ProtectQuotas = false }},
		"one dash will do":         {arguments: []string{"-quota-trees=true"}, edit: func(s *AdmissionSettings) { s.QuotaTrees = true }},
		"the last one counts":      {arguments: []string{"--skip-mutating-resources", "--skip-mutating-resources=0"}, edit: func(*AdmissionSettings) {}},
		"a value that is none":     {arguments: []string{"--allow-parent-quota=often"}, edit: func(*AdmissionSettings) {}},
		"flags of something else":  {arguments: []string{"koord-manager", "--leader-elect=false", ""}, edit: func(*AdmissionSettings) {}},
		"two of them are combined": {arguments: []string{"--skip-extended-resource-spec", "--skip-validating-priority"}, edit: func(s *AdmissionSettings) { s.Profiles.SkipResourceSpec, s.Validation.SkipPriority = true, true }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := AdmissionSettings{Profiles: colocationprofile.Options{ExemptNamespaces: []string{"kube-system", "system"}}}
			want.Validation.ProtectQuotas = true
			tc.edit(&want)
			if diff := cmp.Diff(want, ReadAdmissionSettings("system", tc.arguments)); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodFieldsHavePaths(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{"a.b/c": "", "d": "1"}},
		Spec: corev1.PodSpec{
			Priority: new(int32(7)), HostNetwork: true,
			Containers: []corev1.Container{
				{Name: "main", Args: []string{"a", "b"}, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1000m")}}},
				{Name: "side"},
			},
			Tolerations: []corev1.Toleration{{Key: "k"}},
		},
	}
	got, err := podFields(pod)
	want := map[string]string{
		"metadata.name": "x", "metadata.labels[a.b/c]": "", "metadata.labels[d]": "1", "spec.priority": "7", "spec.hostNetwork": "true",
		"spec.containers[main].name": "main", "spec.containers[main].args[0]": "a", "spec.containers[main].args[1]": "b",
		"spec.containers[main].resources.requests[cpu]": "1", "spec.containers[side].name": "side", "spec.tolerations[0].key": "k",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, fields (-want +got):\n%s", err, diff)
	}
	pod.Spec.Containers[1].Name = "main"
	if got, _ := podFields(pod); got["spec.containers[1].name"] != "main" {
		t.Errorf("containers of one name: %v", got)
	}
}

// snapshotOf has the profiles of a case, and everything else that they need.
func snapshotOf(t interface{ Fatal(...any) }, test profilecases.Case) *AdmissionSnapshot {
	profiles, err := test.ReadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	in := &AdmissionSnapshot{
		Profiles: profiles, Settings: ReadAdmissionSettings("koordinator-system", nil),
		Namespaces: map[string]*corev1.Namespace{profilecases.Namespace: {ObjectMeta: metav1.ObjectMeta{Name: profilecases.Namespace, Labels: profilecases.NamespaceLabels()}}},
	}
	for name, class := range profilecases.PriorityClasses() {
		object := priorityClass(name, class.Value)
		if class.PreemptionPolicy != "" {
			object.PreemptionPolicy = &class.PreemptionPolicy
		}
		in.PriorityClasses = append(in.PriorityClasses, object)
	}
	return in
}

// TestTheAnswerIsThePodThatTheDecisionMakes: applying the changes of an answer to the fields of the pod gives the pod that the webhook
// would return.
func TestTheAnswerIsThePodThatTheDecisionMakes(t *testing.T) {
	for _, test := range profilecases.All() {
		t.Run(test.Name, func(t *testing.T) {
			pod, err := test.ReadPod(test.Pod)
			if err != nil {
				t.Fatal(err)
			}
			in := snapshotOf(t, test)
			admission, err := NewAdmission(in, source.AdmissionPod{Kind: "Pod", Document: 1, Pod: pod})
			if err != nil {
				t.Fatal(err)
			}
			answer := admission.Conclude("", "")
			want, err := colocationprofile.Decide(colocationprofile.Input{
				Pod: admission.Before(), Namespace: pod.Namespace, NamespaceLabels: profilecases.NamespaceLabels(), Profiles: in.Profiles,
				PriorityClasses: classesOf(in.PriorityClasses), Options: in.Settings.Profiles,
			}, nil)
			if err != nil {
				if answer.Verdict != diagnosticsv1alpha1.AdmissionRefused {
					t.Errorf("verdict %s, want a refusal: %v", answer.Verdict, err)
				}
				return
			}
			wantFields, err := podFields(want)
			if err != nil {
				t.Fatal(err)
			}
			fields, err := podFields(admission.Before())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range answer.Changes {
				if c.By == "" {
					t.Errorf("nothing is said to change %s", c.Field)
				}
				delete(fields, c.Field)
				if c.After != nil {
					fields[c.Field] = *c.After
				}
			}
			if diff := cmp.Diff(wantFields, fields); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

// TestADryRunOfTheSamePodAgrees, and one of any other pod does not.
func TestADryRunOfTheSamePodAgrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		test := rapid.SampledFrom(profilecases.All()).Draw(rt, "case")
		pod, err := test.ReadPod(test.Pod)
		if err != nil {
			rt.Fatal(err)
		}
		admission, err := NewAdmission(snapshotOf(rt, test), source.AdmissionPod{Kind: "Pod", Document: 1, Pod: pod})
		if err != nil {
			rt.Fatal(err)
		}
		answer := admission.Conclude("", "")
		answered := admission.after.DeepCopy()
		answered.UID, answered.Spec.NodeName = "u", "n" // what the API server and others fill in
		other := rapid.Bool().Draw(rt, "other")
		if other {
			answered.Labels = map[string]string{rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "label"): "other"}
		}
		if err := admission.Compare(diagnosticsv1alpha1.DryRunAccepted, "", answered); err != nil {
			rt.Fatal(err)
		}
		want := !other && answer.Verdict == diagnosticsv1alpha1.AdmissionAdmitted
		if agrees := answer.DryRun.Agrees; agrees == nil || *agrees != want {
			rt.Errorf("agrees %v with %+v, want %v", agrees, answer.DryRun.Differences, want)
		}
	})
}

func TestAQuotaTreeRestrictsThePod(t *testing.T) {
	in := &AdmissionSnapshot{
		Settings: ReadAdmissionSettings("system", []string{"--quota-trees"}), Namespaces: map[string]*corev1.Namespace{"shop": {}},
		QuotaProfiles: []quotav1alpha1.ElasticQuotaProfile{{
			ObjectMeta: metav1.ObjectMeta{Name: "gpu", Labels: map[string]string{extension.LabelQuotaTreeID: "gpu"}},
			Spec:       quotav1alpha1.ElasticQuotaProfileSpec{NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "gpu"}}},
		}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x", Labels: map[string]string{extension.LabelQuotaTreeID: "gpu"}}}
	admission, err := NewAdmission(in, source.AdmissionPod{Kind: "Pod", Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	changes := admission.Conclude("", "").Changes
	if len(changes) != 3 || changes[0].By != "quota tree gpu" || *changes[2].After != "gpu" {
		t.Errorf("changes %+v, want a term of pool in gpu", changes)
	}
}

func priorityClass(name string, value int32) schedulingv1.PriorityClass {
	return schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
}
