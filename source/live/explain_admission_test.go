package live

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live/livetest"
	"koordinator.sh/koord/source/objects"
)

// admitting has a profile that makes pods of namespaces with co-location best effort, its PriorityClass, and the webhooks.
func admitting() *clusterBuilder {
	b := makeCluster().namespace("shop").deployment("koord-manager")
	b.server.Namespaces[0].Labels = map[string]string{"colocated": "true"}
	b.server.Profiles = []configv1alpha1.ClusterColocationProfile{{ObjectMeta: metav1.ObjectMeta{Name: "batch"}, Spec: configv1alpha1.ClusterColocationProfileSpec{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"colocated": "true"}}, QoSClass: string(extension.QoSBE), PriorityClassName: "koord-batch", SchedulerName: "koord-scheduler",
	}}}
	webhooks := admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: objects.AdmissionWebhooks}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "pods"}}}
	return b.list("priorityclasses", &schedulingv1.PriorityClassList{Items: []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "koord-batch"}, Value: 5500}}}).
		list("mutatingwebhookconfigurations", &admissionregistrationv1.MutatingWebhookConfigurationList{Items: []admissionregistrationv1.MutatingWebhookConfiguration{webhooks}})
}

// manifest is a pod to be created in the namespace shop.
func manifest(edits ...func(*corev1.Pod)) source.AdmissionPod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	p.Spec.Containers[0].Resources.Requests = resources("1", "1Gi")
	for _, edit := range edits {
		edit(p)
	}
	return source.AdmissionPod{APIVersion: "v1", Kind: "Pod", Name: p.Name, Document: 1, Pod: p}
}

func TestAnAdmissionIsExplainedFromWhatMayBeRead(t *testing.T) {
	tests := map[string]struct {
		edit        func(*clusterBuilder)
		wantVerdict diagnosticsv1alpha1.AdmissionVerdict
		want        string
		// wantProfile is what becomes of the profile batch, or of the rows of profiles where there is none.
		wantProfile    diagnosticsv1alpha1.AdmissionOutcome
		wantIncomplete []string
	}{
		"everything": {func(*clusterBuilder) {}, "Admitted", "9 fields change", "Applied", nil},
		"not the profiles": {
			func(b *clusterBuilder) { b.denied("list clustercolocationprofiles") }, "Unknown", "the ClusterColocationProfiles could not be read", "",
			[]string{"list clustercolocationprofiles*which profiles apply, and what they change, is unknown (KOORD0002)"},
		},
		"not the classes": {
			func(b *clusterBuilder) { b.denied("list priorityclasses") }, "Unknown", "the PriorityClasses could not be read", "Unknown",
			[]string{"list priorityclasses.scheduling.k8s.io*the priorities of pods are unknown (KOORD0002)"},
		},
		"not the namespace": {
			func(b *clusterBuilder) { b.denied("get namespaces") }, "Unknown", "the labels of namespace shop could not be read", "Unknown",
			[]string{`get namespaces "shop"*profiles that select namespaces by labels cannot be matched (KOORD0002)`},
		},
		"not the flags of koord-manager": {
			func(b *clusterBuilder) { b.denied("get deployments") }, "Admitted", "9 fields change", "Applied", []string{"get deployments.apps*the default flags of koord-manager are assumed (KOORD0002)"},
		},
		"no koord-manager": {
			func(b *clusterBuilder) { delete(b.server.Lists, "deployments") }, "Admitted", "9 fields change", "Applied", []string{"get deployments.apps*the default flags of koord-manager are assumed (KOORD0003)"},
		},
		"not the webhooks": {
			func(b *clusterBuilder) { b.denied("get mutatingwebhookconfigurations") }, "Admitted", "9 fields change", "Applied",
			[]string{"get mutatingwebhookconfigurations*whether the webhooks of koord-manager are registered is unknown (KOORD0002)"},
		},
		"the namespace does not exist": {func(b *clusterBuilder) { b.server.Namespaces = nil }, "Refused", "KOORD0003 NotFound", "NotSelected", nil},
		"the class does not exist":     {func(b *clusterBuilder) { delete(b.server.Lists, "priorityclasses") }, "Refused", "KOORD1301 AdmissionPriorityClassMissing", "Invalid", nil},
		"a cluster without koordinator": {
			func(b *clusterBuilder) { b.server.NoCRDs = true }, "Admitted", "no field changes", "", []string{"list clustercolocationprofiles*no colocation profile applies (KOORD0006)", "get deployments.apps*the default flags of koord-manager are assumed (KOORD0003)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := admitting()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainAdmission(t.Context(), source.AdmissionQuery{Pods: []source.AdmissionPod{manifest()}})
			if err != nil {
				t.Fatal(err)
			}
			item := &answer.Items[0]
			if item.Verdict != tc.wantVerdict || item.Message != tc.want {
				t.Errorf("%s: %q, want %s: %q", item.Verdict, item.Message, tc.wantVerdict, tc.want)
			}
			outcome := diagnosticsv1alpha1.AdmissionOutcome("")
			for _, profile := range item.Profiles {
				outcome = profile.Outcome
			}
			if outcome != tc.wantProfile {
				t.Errorf("the profile is %q, want %q", outcome, tc.wantProfile)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

// TestWhoAppliesTheProfilesIsRead: the API server where it has the policy with its binding, and else the webhook.
func TestWhoAppliesTheProfilesIsRead(t *testing.T) {
	served := func(resource string) func(*clusterBuilder) {
		return func(b *clusterBuilder) {
			b.list(resource, &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}}}})
		}
	}
	const policies, bindings = "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"
	tests := map[string]struct {
		edits          []func(*clusterBuilder)
		want           diagnosticsv1alpha1.AdmissionPath
		wantReason     string
		wantIncomplete int
		// wantWarning is that no webhook is registered.
		wantWarning bool
	}{
		"no policy": {want: diagnosticsv1alpha1.AdmissionByWebhook, wantReason: "the API server has no mutatingadmissionpolicies koordinator-colocation-profiles"},
		"a policy unbound": {
			edits: []func(*clusterBuilder){served(policies)}, want: diagnosticsv1alpha1.AdmissionByWebhook,
			wantReason: "the API server has no mutatingadmissionpolicybindings koordinator-colocation-profiles",
		},
		"a policy in force": {edits: []func(*clusterBuilder){served(policies), served(bindings)}, want: diagnosticsv1alpha1.AdmissionByPolicy},
		"it may not be read": {
			edits: []func(*clusterBuilder){served(bindings), func(b *clusterBuilder) { b.denied("get " + policies) }},
			want:  diagnosticsv1alpha1.AdmissionPathUnknown, wantReason: "the MutatingAdmissionPolicy could not be read; without it, the webhook applies them",
			wantIncomplete: 1,
		},
		"nor may the binding": {
			edits: []func(*clusterBuilder){served(policies), func(b *clusterBuilder) { b.denied("get " + bindings) }},
			want:  diagnosticsv1alpha1.AdmissionPathUnknown, wantReason: "the MutatingAdmissionPolicy could not be read; without it, the webhook applies them",
			wantIncomplete: 1,
		},
		"there are no webhooks": {
			edits: []func(*clusterBuilder){func(b *clusterBuilder) { delete(b.server.Lists, "mutatingwebhookconfigurations") }},
			want:  diagnosticsv1alpha1.AdmissionByWebhook, wantReason: "the API server has no mutatingadmissionpolicies koordinator-colocation-profiles",
			wantWarning: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := admitting()
			for _, edit := range tc.edits {
				edit(cluster)
			}
			answer, err := cluster.source(t).ExplainAdmission(t.Context(), source.AdmissionQuery{Pods: []source.AdmissionPod{manifest()}})
			if err != nil {
				t.Fatal(err)
			}
			item := &answer.Items[0]
			if item.AppliedBy != tc.want || !strings.HasSuffix(item.AppliedReason, tc.wantReason) || (item.AppliedReason == "") != (tc.wantReason == "") ||
				len(answer.Incomplete) != tc.wantIncomplete {
				t.Errorf("by %s because %q, incomplete %q; want %s because %q", item.AppliedBy, item.AppliedReason, answer.Incomplete, tc.want, tc.wantReason)
			}
			unregistered := slices.ContainsFunc(item.Findings, func(f diagnosticsv1alpha1.Finding) bool { return f.Code == string(finding.NotInstalled) })
			if unregistered != tc.wantWarning {
				t.Errorf("findings %+v", item.Findings)
			}
		})
	}
}

func TestWhereNothingMayBeReadThereIsNothingToSay(t *testing.T) {
	cluster := admitting().denied("list clustercolocationprofiles", "list priorityclasses", "list elasticquotas", "get namespaces")
	answer, err := cluster.source(t).ExplainAdmission(t.Context(), source.AdmissionQuery{Pods: []source.AdmissionPod{manifest()}})
	if !hasCode(err, finding.Forbidden) || answer != nil {
		t.Errorf("answer %+v, error %v", answer, err)
	}
}

// reviews answers who may use quotas, and keeps the questions.
type reviews struct {
	// creator and account are the answers about them.
	creator, account bool

	mu    sync.Mutex
	asked []string
}

func (v *reviews) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	self := strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews")
	v.asked = append(v.asked, r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	kind, allowed := "SubjectAccessReview", v.account
	if self {
		kind, allowed = "SelfSubjectAccessReview", v.creator
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": authorizationv1.SchemeGroupVersion.String(), "kind": kind, "status": authorizationv1.SubjectAccessReviewStatus{Allowed: allowed}})
}

// TestAQuotaOfAnotherNamespaceNeedsAPermission: that of who creates the pod, or of its ServiceAccount.
func TestAQuotaOfAnotherNamespaceNeedsAPermission(t *testing.T) {
	foreign := func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelQuotaName: "vault"} }
	tests := map[string]struct {
		reviews        *reviews
		pod            func(*corev1.Pod)
		denied         []string
		wantAsked      []string
		wantVerdict    diagnosticsv1alpha1.AdmissionVerdict
		wantIncomplete int
	}{
		"the creator may":                        {reviews: &reviews{creator: true}, wantAsked: []string{"selfsubjectaccessreviews"}, wantVerdict: "Admitted"},
		"its ServiceAccount may":                 {reviews: &reviews{account: true}, wantAsked: []string{"selfsubjectaccessreviews", "subjectaccessreviews"}, wantVerdict: "Admitted"},
		"neither may":                            {wantAsked: []string{"selfsubjectaccessreviews", "subjectaccessreviews"}, wantVerdict: "Refused"},
		"a controller creates it":                {reviews: &reviews{creator: true}, pod: owned("web"), wantAsked: []string{"subjectaccessreviews"}, wantVerdict: "Refused"},
		"who may is not to be asked of others":   {denied: []string{"create subjectaccessreviews"}, wantAsked: []string{"selfsubjectaccessreviews"}, wantVerdict: "Unknown", wantIncomplete: 1},
		"the quota is not one that it is in":     {pod: func(p *corev1.Pod) { p.Labels = nil }, wantVerdict: "Admitted"},
		"a quota that lists the pod's namespace": {pod: func(p *corev1.Pod) { p.Labels[extension.LabelQuotaName] = "shared" }, wantVerdict: "Admitted"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			quota := func(name, namespaces string) schedulingsigsv1alpha1.ElasticQuota {
				q := schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "bank", Name: name, Annotations: map[string]string{extension.AnnotationQuotaNamespaces: namespaces}}}
				q.Spec.Max = resources("8", "8Gi")
				return q
			}
			cluster := admitting().denied(tc.denied...).node("worker-1").
				list("elasticquotas", &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{quota("vault", `["bank"]`), quota("shared", `["shop"]`)}})
			if tc.reviews == nil {
				tc.reviews = &reviews{}
			}
			cluster.server.Creates = map[string]http.Handler{"selfsubjectaccessreviews": tc.reviews, "subjectaccessreviews": tc.reviews}
			edits := []func(*corev1.Pod){foreign}
			if tc.pod != nil {
				edits = append(edits, tc.pod)
			}
			answer, err := cluster.source(t).ExplainAdmission(t.Context(), source.AdmissionQuery{Pods: []source.AdmissionPod{manifest(edits...)}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantAsked, tc.reviews.asked); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
			if item := &answer.Items[0]; item.Verdict != tc.wantVerdict || len(answer.Incomplete) != tc.wantIncomplete {
				t.Errorf("%s: %q, incomplete %q; want %s", item.Verdict, item.Message, answer.Incomplete, tc.wantVerdict)
			}
		})
	}
}

// ofAPodThatExists makes a manifest that of kubectl get -o yaml.
func ofAPodThatExists(p *corev1.Pod) {
	p.UID, p.ResourceVersion = "uid", "7"
	owned("web")(p)
}

func TestADryRunOfAPodIsCompared(t *testing.T) {
	forbidden := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		livetest.Fail(w, int(denied403.Code), denied403.Reason, denied403.Message)
	})
	var sent corev1.Pod
	stores := func(edit func(*corev1.Pod)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var p corev1.Pod
			_ = json.NewDecoder(r.Body).Decode(&p)
			sent = p
			edit(&p)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(p)
		})
	}
	echo := stores(func(*corev1.Pod) {})
	defaults := stores(func(p *corev1.Pod) {
		p.Spec.SchedulerName, p.Spec.Priority, p.Spec.PreemptionPolicy = corev1.DefaultSchedulerName, new(int32), new(corev1.PreemptLowerPriority)
	})
	tests := map[string]struct {
		edit       func(*clusterBuilder)
		answer     http.Handler
		wantRun    diagnosticsv1alpha1.DryRunVerdict
		wantAgrees *bool
	}{
		"the server agrees": {
			edit: func(b *clusterBuilder) { b.server.Profiles = nil }, answer: defaults, wantRun: diagnosticsv1alpha1.DryRunAccepted, wantAgrees: new(true),
		},
		"the server changes nothing":    {answer: echo, wantRun: diagnosticsv1alpha1.DryRunAccepted, wantAgrees: new(false)},
		"the server rejects it":         {answer: forbidden, wantRun: diagnosticsv1alpha1.DryRunRefused, wantAgrees: new(false)},
		"the caller may create no pods": {edit: func(b *clusterBuilder) { b.denied("create pods") }, answer: echo, wantRun: diagnosticsv1alpha1.DryRunForbidden},
		"the namespace is gone":         {answer: http.NotFoundHandler(), wantRun: diagnosticsv1alpha1.DryRunRefused, wantAgrees: new(false)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sent = corev1.Pod{}
			cluster := admitting()
			if tc.edit != nil {
				tc.edit(cluster)
			}
			cluster.server.Creates = map[string]http.Handler{"pods": tc.answer}
			answer, err := cluster.source(t).ExplainAdmission(t.Context(), source.AdmissionQuery{Pods: []source.AdmissionPod{manifest(ofAPodThatExists)}, DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			item := &answer.Items[0]
			if item.DryRun == nil || item.DryRun.Verdict != tc.wantRun {
				t.Fatalf("dry run %+v, want %s", item.DryRun, tc.wantRun)
			}
			if diff := cmp.Diff(tc.wantAgrees, item.DryRun.Agrees); diff != "" {
				t.Errorf("agrees (-want +got):\n%s", diff)
			}
			differs := slices.ContainsFunc(item.Findings, func(f diagnosticsv1alpha1.Finding) bool { return f.Code == string(finding.AdmissionDiffers) })
			if differs != (tc.wantAgrees != nil && !*tc.wantAgrees) {
				t.Errorf("findings %+v", item.Findings)
			}
			if sent.Name != "" || sent.UID != "" || sent.ResourceVersion != "" || sent.OwnerReferences != nil || sent.GenerateName == "" && tc.wantRun == diagnosticsv1alpha1.DryRunAccepted {
				t.Errorf("the pod is sent as one that exists, or not at all: %+v", sent.ObjectMeta)
			}
			for _, asked := range cluster.server.Requests() {
				if strings.HasPrefix(asked, "POST") && !strings.Contains(asked, "dryRun=All") {
					t.Errorf("%s is no dry run", asked)
				}
			}
		})
	}
}
