package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/test/profilecases"
)

const system = "koordinator-system"

func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, configv1alpha1.AddToScheme, schedulingsigsv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// cluster has the namespace and the priority classes of the profile cases.
func cluster(t testing.TB, objects ...client.Object) *fake.ClientBuilder {
	t.Helper()
	objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: profilecases.Namespace, Labels: profilecases.NamespaceLabels()}})
	for name, class := range profilecases.PriorityClasses() {
		objects = append(objects, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: class.Value, PreemptionPolicy: &class.PreemptionPolicy})
	}
	return indexed(fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(objects...))
}

// indexed adds the indexes of quotas.
func indexed(b *fake.ClientBuilder) *fake.ClientBuilder {
	for field, function := range quotaIndexes() {
		b.WithIndex(&schedulingsigsv1alpha1.ElasticQuota{}, field, function)
	}
	return b
}

func options() Options {
	o := Options{Namespace: system, ServicePort: 9443, CABundle: func() []byte { return []byte("bundle") }, Policies: true}
	o.complete()
	return o
}

// requestOf is the API server's question about a pod.
func requestOf(t testing.TB, operation admissionv1.Operation, pod, old *corev1.Pod) admission.Request {
	t.Helper()
	raw := func(pod *corev1.Pod) runtime.RawExtension {
		if pod == nil {
			return runtime.RawExtension{}
		}
		data, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: data}
	}
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "u", Operation: operation, Namespace: pod.Namespace, Object: raw(pod), OldObject: raw(old),
	}}
}

func TestTheWebhookGivesThePodOfTheCase(t *testing.T) {
	for _, test := range profilecases.All() {
		t.Run(test.Name, func(t *testing.T) {
			profiles, err := test.ReadProfiles()
			if err != nil {
				t.Fatal(err)
			}
			var objects []client.Object
			for i := range profiles {
				objects = append(objects, &profiles[i])
			}
			pod, err := test.ReadPod(test.Pod)
			if err != nil {
				t.Fatal(err)
			}
			o := options()
			o.Chance = func(string) int { return test.Draw }
			mutator := &podMutator{reader: cluster(t, objects...).Build(), options: o, decoder: admission.NewDecoder(newScheme(t))}
			request := requestOf(t, admissionv1.Create, pod, nil)
			response := mutator.Handle(t.Context(), request)
			if test.WantError != "" {
				if response.Allowed || !strings.Contains(response.Result.Message, test.WantError) || !strings.Contains(response.Result.Message, "KOORD1301") {
					t.Fatalf("answer is %+v, want a refusal with %q", response, test.WantError)
				}
				return
			}
			want, err := test.ReadPod(test.WantPod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(canonical(t, want), canonical(t, patched(t, request, response))); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

// patched applies the patch of an answer as the API server does.
func patched(t testing.TB, request admission.Request, response admission.Response) *corev1.Pod {
	t.Helper()
	if !response.Allowed {
		t.Fatalf("refused: %+v", response.Result)
	}
	pod, raw := &corev1.Pod{}, request.Object.Raw
	if len(response.Patches) > 0 {
		text, err := json.Marshal(response.Patches)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = patch.Apply(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(raw, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func canonical(t testing.TB, pod *corev1.Pod) string {
	t.Helper()
	data, err := json.MarshalIndent(pod, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAFieldOfANewerAPIServerSurvives(t *testing.T) {
	profile := profilecases.BatchProfile()[0]
	mutator := &podMutator{reader: cluster(t, &profile).Build(), options: options(), decoder: admission.NewDecoder(newScheme(t))}
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: profilecases.Namespace,
		Object: runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"p"},"spec":{"fieldOfTomorrow":1,"containers":[{"name":"main"}]}}`)}}}
	for _, operation := range mutator.Handle(t.Context(), request).Patches {
		if strings.Contains(operation.Path, "fieldOfTomorrow") {
			t.Errorf("the patch has %+v", operation)
		}
	}
}

func TestOtherRequestsAreLeftAlone(t *testing.T) {
	mutator := &podMutator{reader: cluster(t).Build(), options: options(), decoder: admission.NewDecoder(newScheme(t))}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: profilecases.Namespace}}
	for name, request := range map[string]admission.Request{
		"an update":     requestOf(t, admissionv1.Update, pod, pod),
		"a subresource": {AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, SubResource: "binding"}},
	} {
		t.Run(name, func(t *testing.T) {
			if response := mutator.Handle(t.Context(), request); !response.Allowed || len(response.Patches) > 0 {
				t.Errorf("answer is %+v", response)
			}
		})
	}
}

func TestValidationLooksUpTheQuotaAndAnswersWithCodes(t *testing.T) {
	quota := func(name, parent string) *schedulingsigsv1alpha1.ElasticQuota {
		return &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "quotas", Name: name, Labels: map[string]string{extension.LabelQuotaIsParent: parent}}}
	}
	own, listing := quota("own", "true"), quota("listing", "true")
	own.Namespace, listing.Annotations = "own", map[string]string{extension.AnnotationQuotaNamespaces: `["listed"]`}
	validator := &podValidator{reader: cluster(t, quota("leaf", "false"), quota("parent", "true"), own, listing).Build(), decoder: admission.NewDecoder(newScheme(t))}
	pod := func(key, value string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: profilecases.Namespace, Labels: map[string]string{key: value}}}
	}
	in := func(namespace string, pod *corev1.Pod) admission.Request {
		request := requestOf(t, admissionv1.Create, pod, nil)
		request.Namespace = namespace
		return request
	}
	tests := map[string]struct {
		request     admission.Request
		wantRefused string
		wantWarning string
	}{
		"no label, a parent lists the namespace":     {request: in("listed", pod("app", "x")), wantRefused: "metadata.namespace: Forbidden: pod can not be linked to a parentQuotaGroup,quota:listing"},
		"no label, a parent is named like it":        {request: in("own", pod("app", "x")), wantRefused: "quota:own, pod:p (KOORD1307)"},
		"an empty label is none":                     {request: in("listed", pod(extension.LabelQuotaName, "")), wantRefused: "quota:listing"},
		"a leaf, where a parent lists the namespace": {request: in("listed", pod(extension.LabelQuotaName, "leaf"))},
		"a leaf":                     {request: requestOf(t, admissionv1.Create, pod(extension.LabelQuotaName, "leaf"), nil)},
		"a parent":                   {request: requestOf(t, admissionv1.Create, pod(extension.LabelQuotaName, "parent"), nil), wantRefused: "pod can not be linked to a parentQuotaGroup,quota:parent, pod:p (KOORD1307). Set the label quota.scheduling.koordinator.sh/name"},
		"none":                       {request: requestOf(t, admissionv1.Create, pod(extension.LabelQuotaName, "none"), nil), wantWarning: "KOORD1310"},
		"an update of the QoS class": {request: requestOf(t, admissionv1.Update, pod(extension.LabelPodQoS, "LS"), pod(extension.LabelPodQoS, "BE")), wantRefused: "KOORD1305"},
		"not a pod": {request: admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create,
			Object: runtime.RawExtension{Raw: []byte(`{"spec":7}`)}}}, wantRefused: "decode pod"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			response := validator.Handle(t.Context(), test.request)
			if response.Allowed != (test.wantRefused == "") || !response.Allowed && !strings.Contains(response.Result.Message, test.wantRefused) {
				t.Errorf("answer is %+v, want %q", response, test.wantRefused)
			}
			if strings.Contains(strings.Join(response.Warnings, ""), "KOORD") != (test.wantWarning != "") {
				t.Errorf("warnings are %q", response.Warnings)
			}
		})
	}
}

// registration is a registrar on a fake cluster that counts writes.
type registration struct {
	*registrar
	clock  *clocktesting.FakeClock
	writes int
}

func newRegistration(t *testing.T, objects ...client.Object) *registration {
	t.Helper()
	r := &registration{clock: clocktesting.NewFakeClock(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))}
	c := cluster(t, objects...).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			r.writes++
			return c.Apply(ctx, object, options...)
		},
	}).Build()
	o := options()
	o.Clock = r.clock
	r.registrar = &registrar{client: c, options: o, served: true}
	return r
}

func (r *registration) run(t *testing.T) time.Duration {
	t.Helper()
	result, err := r.Reconcile(t.Context(), reconcile.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return result.RequeueAfter
}

func (r *registration) condition(t *testing.T) string {
	t.Helper()
	var configuration admissionregistrationv1.MutatingWebhookConfiguration
	if err := r.client.Get(t.Context(), types.NamespacedName{Name: ConfigurationName}, &configuration); err != nil {
		t.Fatal(err)
	}
	if len(configuration.Webhooks) == 0 || configuration.Webhooks[0].Name != mutatePodName {
		t.Fatalf("%d webhooks", len(configuration.Webhooks))
	}
	return configuration.Webhooks[0].MatchConditions[0].Expression
}

func chartObjects() []client.Object {
	return []client.Object{
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName, UID: "owner"}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName, UID: "validating"}},
	}
}

func TestTheWebhookIsWideUntilThePolicyHasSettled(t *testing.T) {
	r := newRegistration(t, chartObjects()...)
	compiled := policy.Compile(nil, profilecases.PriorityClasses(), policy.Options{Options: r.options.profileOptions()})
	if after := r.run(t); after != registrationDelay {
		t.Errorf("looks again after %s, want %s", after, registrationDelay)
	}
	if got := r.condition(t); got != compiled.Everywhere() {
		t.Errorf("condition is %s, want all pods with co-location", got)
	}
	var live admissionregistrationv1.MutatingAdmissionPolicy
	if err := r.client.Get(t.Context(), types.NamespacedName{Name: policy.Name}, &live); err != nil {
		t.Fatal(err)
	}
	if len(live.OwnerReferences) != 1 || live.OwnerReferences[0].UID != "owner" {
		t.Errorf("owners are %v", live.OwnerReferences)
	}
	r.clock.Step(registrationDelay)
	r.run(t)
	if got := r.condition(t); got != compiled.WebhookCondition {
		t.Errorf("condition is %s, want what the policy cannot express", got)
	}
	writes := r.writes
	if after := r.run(t); after != checkInterval || r.writes != writes {
		t.Errorf("looks again after %s having written %d times, want %s and nothing", after, r.writes-writes, checkInterval)
	}
}

func TestAProfileWidensTheWebhookBeforeThePolicyChanges(t *testing.T) {
	r := newRegistration(t, chartObjects()...)
	r.run(t)
	r.clock.Step(registrationDelay)
	r.run(t)
	profile := profilecases.BatchProfile()[0]
	profile.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "spark"}}
	if err := r.client.Create(t.Context(), &profile); err != nil {
		t.Fatal(err)
	}
	r.run(t)
	if !strings.Contains(r.condition(t), `"spark"`) {
		t.Error("the webhook is not asked about the pods of the new profile")
	}
	var live admissionregistrationv1.MutatingAdmissionPolicy
	if err := r.client.Get(t.Context(), types.NamespacedName{Name: policy.Name}, &live); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(live.String(), "5500") {
		t.Error("the policy does not have the priority of the class")
	}
}

func TestNothingIsRegisteredBeforeTheChartAndTheCertificate(t *testing.T) {
	absent := newRegistration(t)
	if after := absent.run(t); after != awaitRetry || absent.writes != 0 {
		t.Errorf("without the chart: again after %s, %d writes", after, absent.writes)
	}
	uncertified := newRegistration(t, chartObjects()...)
	uncertified.options.CABundle = func() []byte { return nil }
	if after := uncertified.run(t); after != awaitRetry || uncertified.writes != 0 {
		t.Errorf("without a certificate: again after %s, %d writes", after, uncertified.writes)
	}
}

func TestWithoutPoliciesTheWebhookSeesEveryProfile(t *testing.T) {
	profile := profilecases.BatchProfile()[0]
	r := newRegistration(t, append(chartObjects(), &profile)...)
	r.served, r.unserved = false, "not served"
	r.run(t)
	if !strings.Contains(r.condition(t), "true") {
		t.Errorf("condition is %s", r.condition(t))
	}
	var list admissionregistrationv1.MutatingAdmissionPolicyList
	if err := r.client.List(t.Context(), &list); err != nil || len(list.Items) != 0 {
		t.Errorf("%d policies, %v", len(list.Items), err)
	}
}

func TestALeaderWithoutPoliciesRemovesTheOneOfItsPredecessor(t *testing.T) {
	profile := profilecases.BatchProfile()[0]
	r := newRegistration(t, append(chartObjects(), &profile)...)
	r.run(t)
	r.clock.Step(registrationDelay)
	r.run(t)
	narrow := r.condition(t)
	r.registrar = &registrar{client: r.client, options: r.options, served: true, unserved: "policies are disabled"}
	r.run(t)
	if r.condition(t) == narrow {
		t.Error("the webhook is not asked about the pods of the policy")
	}
	var policies admissionregistrationv1.MutatingAdmissionPolicyList
	var bindings admissionregistrationv1.MutatingAdmissionPolicyBindingList
	if err := errors.Join(r.client.List(t.Context(), &policies), r.client.List(t.Context(), &bindings)); err != nil {
		t.Fatal(err)
	}
	if len(policies.Items)+len(bindings.Items) > 0 {
		t.Errorf("%d policies and %d bindings are left, which nobody keeps in line with the profiles", len(policies.Items), len(bindings.Items))
	}
}

func TestASuccessorKeepsTheWebhookWideUntilThePolicyHasSettled(t *testing.T) {
	r := newRegistration(t, chartObjects()...)
	r.run(t)
	wide := r.condition(t)
	successor := &registrar{client: r.client, options: r.options, served: true}
	r.registrar = successor
	if after := r.run(t); after != registrationDelay || r.condition(t) != wide {
		t.Errorf("looks again after %s with condition %s, want %s and all pods with co-location", after, r.condition(t), registrationDelay)
	}
	r.clock.Step(registrationDelay)
	if after := r.run(t); after != checkInterval || r.condition(t) == wide {
		t.Errorf("looks again after %s with condition %s, want %s and what the policy cannot express", after, r.condition(t), checkInterval)
	}
	writes := r.writes
	r.registrar = &registrar{client: r.client, options: r.options, served: true}
	if after := r.run(t); after != checkInterval || r.writes != writes {
		t.Errorf("the next one looks again after %s having written %d times, want %s and nothing", after, r.writes-writes, checkInterval)
	}
}

func TestPoliciesAreUsedWhereTheyAreServed(t *testing.T) {
	served := meta.NewDefaultRESTMapper([]schema.GroupVersion{admissionregistrationv1.SchemeGroupVersion})
	served.Add(admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"), meta.RESTScopeRoot)
	for name, test := range map[string]struct {
		mapper meta.RESTMapper
		want   string
	}{
		"served":     {mapper: served},
		"not served": {mapper: meta.NewDefaultRESTMapper(nil), want: "the API server does not serve MutatingAdmissionPolicy v1"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := whyUnserved(test.mapper)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			cached, err := ByObject(test.mapper)
			if err != nil {
				t.Fatal(err)
			}
			policies := 0
			for object := range cached {
				switch object.(type) {
				case *admissionregistrationv1.MutatingAdmissionPolicy, *admissionregistrationv1.MutatingAdmissionPolicyBinding:
					policies++
				}
			}
			if want := map[bool]int{true: 2}[test.want == ""]; policies != want {
				t.Errorf("%d kinds of policies are cached, want %d", policies, want)
			}
		})
	}
}

func BenchmarkMutatePod(b *testing.B) {
	var objects []client.Object
	for i := range 50 {
		profile := profilecases.BatchProfile()[0]
		profile.Name += string(rune('a' + i))
		objects = append(objects, &profile)
	}
	mutator := &podMutator{reader: cluster(b, objects...).Build(), options: options(), decoder: admission.NewDecoder(newScheme(b))}
	test := profilecases.Case{Pod: `{spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}`}
	pod, err := test.ReadPod(test.Pod)
	if err != nil {
		b.Fatal(err)
	}
	request := requestOf(b, admissionv1.Create, pod, nil)
	for b.Loop() {
		mutator.Handle(b.Context(), request)
	}
}
