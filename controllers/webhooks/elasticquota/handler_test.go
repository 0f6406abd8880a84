package elasticquota

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, schedulingsigsv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// object is a quota of cpu with labels given in pairs.
func object(name, least, most string, labels ...string) *schedulingsigsv1alpha1.ElasticQuota {
	q := &schedulingsigsv1alpha1.ElasticQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "ElasticQuota"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "quotas", Name: name, Labels: map[string]string{}},
		Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{
			Min: corev1.ResourceList{"cpu": resource.MustParse(least)}, Max: corev1.ResourceList{"cpu": resource.MustParse(most)},
		},
	}
	for i := 0; i < len(labels); i += 2 {
		q.Labels[labels[i]] = labels[i+1]
	}
	return q
}

func department() *schedulingsigsv1alpha1.ElasticQuota {
	return object("dept", "10", "20", extension.LabelQuotaIsParent, "true", extension.LabelQuotaTreeID, "7")
}

func team(name, least string) *schedulingsigsv1alpha1.ElasticQuota {
	return object(name, least, "20", extension.LabelQuotaParent, "dept", extension.LabelQuotaTreeID, "7")
}

func request(t testing.TB, operation admissionv1.Operation, quota, old *schedulingsigsv1alpha1.ElasticQuota) admission.Request {
	t.Helper()
	raw := func(quota *schedulingsigsv1alpha1.ElasticQuota) runtime.RawExtension {
		if quota == nil {
			return runtime.RawExtension{}
		}
		data, err := json.Marshal(quota)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: data}
	}
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: operation, Namespace: "quotas", Object: raw(quota), OldObject: raw(old)}}
}

// registryOf knows quotas from the watch.
func registryOf(quotas ...*schedulingsigsv1alpha1.ElasticQuota) *Registry {
	r := NewRegistry(clock.RealClock{})
	for _, q := range quotas {
		r.OnAdd(q, true)
	}
	return r
}

func validator(t testing.TB, r *Registry, pods ...client.Object) *Validator {
	t.Helper()
	bound := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(pods...).WithIndex(&corev1.Pod{}, PodQuotaIndex, podQuota).Build()
	return &Validator{Registry: r, Decoder: admission.NewDecoder(scheme(t)), Pods: Pods{Cached: bound}}
}

func pod(namespace, quota string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"}}
	if quota != "" {
		p.Labels = map[string]string{extension.LabelQuotaName: quota}
	}
	return p
}

func TestWritesAreAnsweredWithCodes(t *testing.T) {
	listed := team("listed", "1")
	listed.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: `["flink"]`}
	spoilt := team("spoilt", "1")
	spoilt.Annotations = map[string]string{extension.AnnotationQuotaSharedWeight: "[" + strings.Repeat("x", 500)}
	parent := team("a", "4")
	parent.Labels[extension.LabelQuotaIsParent] = "true"
	tests := map[string]struct {
		request     admission.Request
		pods        []client.Object
		wantRefusal []string
		wantWarning string
	}{
		"a sound child":                                {request: request(t, admissionv1.Create, team("b", "6"), nil)},
		"one too large, with what helps":               {request: request(t, admissionv1.Create, team("b", "7"), nil), wantRefusal: []string{"KOORD1209", "11 of cpu, of 10", "Raise the min of the parent"}},
		"two faults at once":                           {request: request(t, admissionv1.Create, object("b", "3", "2", extension.LabelQuotaParent, "none"), nil), wantRefusal: []string{"KOORD1210", "KOORD1207"}},
		"an annotation that is not JSON":               {request: request(t, admissionv1.Create, spoilt, nil), wantWarning: "KOORD1210"},
		"deleting a leaf":                              {request: request(t, admissionv1.Delete, nil, team("a", "4"))},
		"deleting a parent":                            {request: request(t, admissionv1.Delete, nil, department()), wantRefusal: []string{"KOORD1322"}},
		"deleting a quota that a pod names":            {request: request(t, admissionv1.Delete, nil, team("a", "4")), pods: []client.Object{pod("x", "a")}, wantRefusal: []string{"KOORD1323", "x/p"}},
		"deleting a quota with a pod's namespace":      {request: request(t, admissionv1.Delete, nil, listed), pods: []client.Object{pod("flink", "")}, wantRefusal: []string{"KOORD1323", "flink/p"}},
		"deleting the quota named as a namespace":      {request: request(t, admissionv1.Delete, nil, team("quotas", "1")), pods: []client.Object{pod("quotas", "")}, wantRefusal: []string{"KOORD1323"}},
		"a pod that names another quota":               {request: request(t, admissionv1.Delete, nil, listed), pods: []client.Object{pod("flink", "other")}},
		"a pod beside a quota of another name":         {request: request(t, admissionv1.Delete, nil, team("a", "4")), pods: []client.Object{pod("quotas", "")}},
		"a quota with pods becomes a parent":           {request: request(t, admissionv1.Update, parent, team("a", "4")), pods: []client.Object{pod("x", "a")}, wantRefusal: []string{"KOORD1323"}},
		"a request without an object":                  {request: request(t, admissionv1.Create, nil, nil), wantRefusal: []string{"has no quota"}},
		"a status":                                     {request: admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Update, SubResource: "status"}}},
		"a request whose object is not a quota at all": {request: admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"spec":7}`)}}}, wantRefusal: []string{"decode quota"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			response := validator(t, registryOf(department(), team("a", "4")), test.pods...).Handle(t.Context(), test.request)
			if response.Allowed != (len(test.wantRefusal) == 0) {
				t.Fatalf("answer is %+v %+v", response, response.Result)
			}
			for _, want := range test.wantRefusal {
				if !strings.Contains(response.Result.Message, want) {
					t.Errorf("refusal lacks %q: %s", want, response.Result.Message)
				}
			}
			warnings := strings.Join(response.Warnings, "\n")
			if !strings.Contains(warnings, test.wantWarning) || (warnings != "") != (test.wantWarning != "") || len(warnings) > maxWarningBytes {
				t.Errorf("warnings are %q", warnings)
			}
		})
	}
}

func TestQuotasAreCompleted(t *testing.T) {
	mutator := &Mutator{Registry: registryOf(department()), Decoder: admission.NewDecoder(scheme(t))}
	in := request(t, admissionv1.Create, object("a", "1", "4", extension.LabelQuotaParent, "dept"), nil)
	response := mutator.Handle(t.Context(), in)
	text, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jsonpatch.DecodePatch(text)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := decoded.Apply(in.Object.Raw)
	if err != nil {
		t.Fatal(err)
	}
	var got schedulingsigsv1alpha1.ElasticQuota
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{extension.LabelQuotaParent: "dept", extension.LabelQuotaTreeID: "7", extension.AnnotationQuotaSharedWeight: `{"cpu":"4"}`}
	for key, value := range got.Annotations {
		got.Labels[key] = value
	}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Errorf("labels and annotations (-want +got):\n%s", diff)
	}
	again := request(t, admissionv1.Create, &got, nil)
	if response := mutator.Handle(t.Context(), again); !response.Allowed || len(response.Patches) > 0 {
		t.Errorf("a second time: %+v", response)
	}
}

func TestQuotasAppliedOneAfterTheOtherSeeEachOther(t *testing.T) {
	r := registryOf()
	v := validator(t, r)
	for _, q := range []*schedulingsigsv1alpha1.ElasticQuota{department(), team("a", "6")} {
		if response := v.Handle(t.Context(), request(t, admissionv1.Create, q, nil)); !response.Allowed {
			t.Fatalf("%s: %+v", q.Name, response.Result)
		}
	}
	if response := v.Handle(t.Context(), request(t, admissionv1.Create, team("b", "6"), nil)); response.Allowed {
		t.Error("a second child takes the min that was just given to the first")
	}
	if response := v.Handle(t.Context(), request(t, admissionv1.Delete, nil, team("a", "6"))); !response.Allowed {
		t.Fatalf("deleting: %+v", response.Result)
	}
	if response := v.Handle(t.Context(), request(t, admissionv1.Create, team("b", "6"), nil)); !response.Allowed {
		t.Errorf("the min of a child that was just deleted is not free: %+v", response.Result)
	}
}

func TestADryRunLeavesNoTrace(t *testing.T) {
	v := validator(t, registryOf(department()))
	dry := request(t, admissionv1.Create, team("a", "6"), nil)
	dry.DryRun = new(true)
	for range 2 {
		if response := v.Handle(t.Context(), dry); !response.Allowed {
			t.Fatal(response.Result)
		}
	}
	if response := v.Handle(t.Context(), request(t, admissionv1.Create, team("b", "6"), nil)); !response.Allowed {
		t.Errorf("a dry run holds min: %+v", response.Result)
	}
}

func TestWhatWasAssumedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registryOf(department())
		v := validator(t, r)
		create := func(name string) bool {
			return v.Handle(t.Context(), request(t, admissionv1.Create, team(name, "6"), nil)).Allowed
		}
		if !create("a") || create("b") {
			t.Fatal("the first must be admitted, the second not")
		}
		// The API server refused the first after all; the watch never brings it.
		time.Sleep(assumeFor + time.Second)
		if !create("b") {
			t.Error("what was never stored still holds min")
		}
		// The watch confirms the second: it stays.
		r.OnAdd(team("b", "6"), false)
		time.Sleep(assumeFor + time.Second)
		if create("a") {
			t.Error("what is stored does not hold min")
		}
	})
}

func TestAStatusDoesNotEndAnAssumption(t *testing.T) {
	before := team("a", "2")
	r := registryOf(department(), before)
	v := validator(t, r)
	if response := v.Handle(t.Context(), request(t, admissionv1.Update, team("a", "8"), before)); !response.Allowed {
		t.Fatal(response.Result)
	}
	written := before.DeepCopy()
	written.Status.Used = corev1.ResourceList{"cpu": resource.MustParse("1")}
	r.OnUpdate(before, written)
	if response := v.Handle(t.Context(), request(t, admissionv1.Create, team("b", "4"), nil)); response.Allowed {
		t.Error("a status that was on its way took back what was admitted")
	}
}

func TestARefusalWaitsForTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registryOf()
		v := validator(t, r)
		done := make(chan bool)
		go func() {
			done <- v.Handle(t.Context(), request(t, admissionv1.Create, team("a", "6"), nil)).Allowed
		}()
		time.Sleep(watchTimeout / 2)
		r.OnAdd(department(), false)
		if !<-done {
			t.Error("a parent that another replica admitted a moment ago is not seen")
		}
		start := time.Now()
		if v.Handle(t.Context(), request(t, admissionv1.Create, team("b", "6"), nil)).Allowed {
			t.Error("the sum is exceeded")
		}
		if waited := time.Since(start); waited != watchTimeout {
			t.Errorf("a refusal waited for %s", waited)
		}
	})
}

func TestQuotasThatGoAreForgotten(t *testing.T) {
	r := registryOf(department(), team("a", "6"))
	r.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "quotas/a", Obj: team("a", "6")})
	if response := validator(t, r).Handle(t.Context(), request(t, admissionv1.Create, team("b", "6"), nil)); !response.Allowed {
		t.Errorf("%+v", response.Result)
	}
}

func BenchmarkValidateAmong10000Quotas(b *testing.B) {
	r := NewRegistry(clock.RealClock{})
	for i := range 10_000 {
		if i%100 == 0 {
			r.OnAdd(object(fmt.Sprintf("dept-%d", i/100), "1000", "5000", extension.LabelQuotaIsParent, "true"), true)
			continue
		}
		r.OnAdd(object(fmt.Sprintf("team-%d", i), "5", "50", extension.LabelQuotaParent, fmt.Sprintf("dept-%d", i/100)), true)
	}
	v := validator(b, r)
	old := object("team-5050", "5", "50", extension.LabelQuotaParent, "dept-50")
	raised := object("team-5050", "6", "50", extension.LabelQuotaParent, "dept-50")
	in := request(b, admissionv1.Update, raised, old)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if response := v.Handle(b.Context(), in); !response.Allowed {
			b.Fatal(response.Result)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
