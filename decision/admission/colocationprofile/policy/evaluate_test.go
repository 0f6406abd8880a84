package policy

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"koordinator.sh/koord/test/profilecases"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// evaluator is a policy as the API server compiles it.
type evaluator struct {
	matcher  matchconditions.Matcher
	patcher  patch.Patcher
	compiler *plugincel.CompositedCompiler
	scheme   *runtime.Scheme
}

func newEvaluator(t testing.TB, policy *admissionregistrationv1.MutatingAdmissionPolicy) *evaluator {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	options := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, variable := range policy.Spec.Variables {
		compiled := compiler.CompileAndStoreVariable(&validating.Variable{Name: variable.Name, Expression: variable.Expression}, options, environment.StoredExpressions)
		if compiled.Error != nil {
			t.Fatalf("variable %s: %v\n%s", variable.Name, compiled.Error, variable.Expression)
		}
	}
	var conditions []plugincel.ExpressionAccessor
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	e := &evaluator{compiler: compiler, scheme: runtime.NewScheme()}
	e.matcher = matchconditions.NewMatcher(compiler.CompileCondition(conditions, options, environment.StoredExpressions), policy.Spec.FailurePolicy, "policy", "mutate", policy.Name)
	options.HasPatchTypes = true
	mutation := compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: policy.Spec.Mutations[0].JSONPatch.Expression}, options, environment.StoredExpressions)
	for _, err := range mutation.CompilationErrors() {
		t.Fatalf("mutation: %v\n%s", err, policy.Spec.Mutations[0].JSONPatch.Expression)
	}
	e.patcher = patch.NewJSONPatcher(mutation)
	if err := corev1.AddToScheme(e.scheme); err != nil {
		t.Fatal(err)
	}
	return e
}

// evaluate returns the pod that the API server would create.
func (e *evaluator) evaluate(t testing.TB, pod *corev1.Pod, labels map[string]string) *corev1.Pod {
	t.Helper()
	attributes := admission.NewAttributesRecord(pod, nil, podKind, pod.Namespace, pod.Name,
		corev1.SchemeGroupVersion.WithResource("pods"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: podKind, VersionedObject: pod.DeepCopy()}
	ctx := e.compiler.CreateContext(t.Context())
	match := e.matcher.Match(ctx, versioned, nil, nil)
	if match.Error != nil {
		t.Fatal(match.Error)
	}
	if !match.Matches {
		return pod
	}
	patched, err := e.patcher.Patch(ctx, patch.Request{
		MatchedResource: corev1.SchemeGroupVersion.WithResource("pods"), VersionedAttributes: versioned,
		ObjectInterfaces: interfaces{admission.NewObjectInterfacesFromScheme(e.scheme)},
		Namespace:        &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace, Labels: labels}},
	}, 10_000_000)
	if err != nil {
		t.Fatalf("evaluate: %v", err)
	}
	return patched.(*corev1.Pod)
}

type interfaces struct{ admission.ObjectInterfaces }

func asJSON(t testing.TB, pod *corev1.Pod) string {
	t.Helper()
	pod = pod.DeepCopy()
	pod.APIVersion, pod.Kind = "v1", "Pod"
	data, err := json.MarshalIndent(pod, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestThePolicyGivesTheSamePodAsTheDecision(t *testing.T) {
	for _, test := range profilecases.All() {
		t.Run(test.Name, func(t *testing.T) {
			profiles, err := test.ReadProfiles()
			if err != nil {
				t.Fatal(err)
			}
			pod, err := test.ReadPod(test.Pod)
			if err != nil {
				t.Fatal(err)
			}
			compiled := Compile(profiles, profilecases.PriorityClasses(), Options{})
			evaluator := newEvaluator(t, compiled.Policy)
			got := evaluator.evaluate(t, pod, profilecases.NamespaceLabels())
			want := pod
			if !test.WantWebhook {
				if want, err = test.ReadPod(test.WantPod); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			if !compiled.Repeatable {
				return
			}
			if diff := cmp.Diff(asJSON(t, got), asJSON(t, evaluator.evaluate(t, got, profilecases.NamespaceLabels()))); diff != "" {
				t.Errorf("the pod, seen again (-first +second):\n%s", diff)
			}
		})
	}
}

// BenchmarkPolicy is a pod that becomes a batch pod, and the same pod when another plugin lets the API server look again.
func BenchmarkPolicy(b *testing.B) {
	all := profilecases.All()
	test := &all[slices.IndexFunc(all, func(c profilecases.Case) bool {
		return c.Name == "requests and limits of a batch pod become batch resources"
	})]
	profiles, err := test.ReadProfiles()
	if err != nil {
		b.Fatal(err)
	}
	first, err := test.ReadPod(test.Pod)
	if err != nil {
		b.Fatal(err)
	}
	evaluator := newEvaluator(b, Compile(profiles, profilecases.PriorityClasses(), Options{}).Policy)
	again := evaluator.evaluate(b, first, profilecases.NamespaceLabels())
	for name, pod := range map[string]*corev1.Pod{"first": first, "again": again} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				evaluator.evaluate(b, pod, profilecases.NamespaceLabels())
			}
		})
	}
}
