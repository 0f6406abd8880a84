package labelpolicy

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// TestMain draws more cases than usual: evaluating one takes no time.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("1000"); err != nil {
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

// newValidator compiles a policy as the API server does.
func newValidator(t testing.TB, policy *admissionregistrationv1.ValidatingAdmissionPolicy) (validating.Validator, *plugincel.CompositedCompiler) {
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
	var conditions, messages []plugincel.ExpressionAccessor
	for _, v := range policy.Spec.Validations {
		conditions = append(conditions, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var words plugincel.ExpressionAccessor // none where the message is always the same
		if v.MessageExpression != "" {
			words = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		messages = append(messages, words)
	}
	filter := compiler.CompileCondition(conditions, options, environment.StoredExpressions)
	words := compiler.CompileCondition(messages, plugincel.OptionalVariableDeclarations{}, environment.StoredExpressions)
	for _, compiled := range []plugincel.ConditionEvaluator{filter, words} {
		for _, err := range compiled.CompilationErrors() {
			t.Fatal(err)
		}
	}
	var matches []plugincel.ExpressionAccessor
	for i := range policy.Spec.MatchConditions {
		matches = append(matches, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	matching := compiler.CompileCondition(matches, options, environment.StoredExpressions)
	for _, err := range matching.CompilationErrors() {
		t.Fatal(err)
	}
	matcher := matchconditions.NewMatcher(matching, policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	return validating.NewValidator(filter, matcher, compiler.CompileCondition(nil, options, environment.StoredExpressions), words, policy.Spec.FailurePolicy, nil), compiler
}

// texts are the refusals of the policy.
func texts(t testing.TB, v validating.Validator, pod, old *corev1.Pod) []string {
	t.Helper()
	operation := admission.Create
	var before runtime.Object
	if old != nil {
		operation, before = admission.Update, old
	}
	kind, pods := corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithResource("pods")
	attributes := admission.NewAttributesRecord(pod, before, kind, pod.Namespace, pod.Name, pods, "", operation, &metav1.CreateOptions{}, false, nil)
	result := v.Validate(t.Context(), pods, &admission.VersionedAttributes{Attributes: attributes, VersionedKind: kind, VersionedObject: pod, VersionedOldObject: before},
		nil, &corev1.Namespace{}, celconfig.RuntimeCELCostBudget, nil)
	var out []string
	for _, decision := range result.Decisions {
		if decision.Evaluation == validating.EvalError {
			t.Fatalf("evaluate: %s", decision.Message)
		}
		if decision.Action == validating.ActionDeny {
			out = append(out, decision.Message)
		}
	}
	return out
}

// wanted are the refusals of the decision that the policy expresses. What must not change is refused at once, as the webhook does.
func wanted(in podvalidation.Input) []string {
	var out, changes []string
	for _, f := range podvalidation.Validate(in) {
		expressed := slices.Contains(Codes(), f.Code) && (in.Old == nil || f.Code == finding.AdmissionFieldImmutable)
		switch entry, _ := finding.Lookup(f.Code); {
		case !f.Refused || !expressed:
		case f.Code == finding.AdmissionFieldImmutable:
			changes = append(changes, f.Text())
		default:
			out = append(out, f.Text()+". "+entry.Fix.English)
		}
	}
	if len(changes) > 0 {
		entry, _ := finding.Lookup(finding.AdmissionFieldImmutable)
		out = append(out, strings.Join(changes, "; ")+". "+entry.Fix.English)
	}
	return out
}

var labelValues = map[string][]string{
	extension.LabelPodQoS:           {"LSE", "LSR", "LS", "BE", "SYSTEM", "be", ""},
	extension.LabelPodPriorityClass: {"koord-prod", "koord-mid", "koord-batch", "koord-free", "other", ""},
	extension.LabelPodPriority:      {"1", "9999"}, extension.LabelQuotaName: {"a", "b"}, extension.LabelQuotaTreeID: {"1", "2"}, extension.LabelQuotaPreemptible: {"true", "false"},
	"app": {"x"},
}

func drawPod(t *rapid.T) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "shop"}}
	for _, key := range append(podvalidation.ImmutableLabels(), "app") {
		if rapid.Bool().Draw(t, key) {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, key, rapid.SampledFrom(labelValues[key]).Draw(t, "value"))
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "reserve") == 0 {
		pod.Annotations = map[string]string{podvalidation.AnnotationReservePod: rapid.SampledFrom([]string{"", "true"}).Draw(t, "annotation")}
	}
	if rapid.Bool().Draw(t, "has priority") {
		pod.Spec.Priority = new(rapid.SampledFrom([]int32{-10, 0, 2999, 3000, 3999, 4500, 5000, 5999, 7000, 7999, 9000, 9999, 10000, 2000000000}).Draw(t, "priority"))
	}
	pod.Spec.PriorityClassName = rapid.SampledFrom([]string{"", "koord-batch", "koord-prod", "system-node-critical"}).Draw(t, "class")
	for range rapid.IntRange(1, 2).Draw(t, "containers") {
		pod.Spec.Containers = append(pod.Spec.Containers, drawContainer(t))
	}
	if rapid.Bool().Draw(t, "init") {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, drawContainer(t))
	}
	return pod
}

func drawContainer(t *rapid.T) corev1.Container {
	amounts := func() corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory, extension.MidCPU, corev1.ResourceCPU} {
			if rapid.IntRange(0, 3).Draw(t, string(name)) == 0 {
				list[name] = resource.MustParse(rapid.SampledFrom([]string{"0", "1", "500", "2Gi"}).Draw(t, "amount"))
			}
		}
		return list
	}
	return corev1.Container{Name: "c", Resources: corev1.ResourceRequirements{Requests: amounts(), Limits: amounts()}}
}

// TestThePolicyRefusesWhatTheDecisionRefuses runs pods that are created and pods that are updated through both, and compares
// every refusal word by word.
func TestThePolicyRefusesWhatTheDecisionRefuses(t *testing.T) {
	for _, options := range []podvalidation.Options{{}, {SkipPriority: true}} {
		policy, _ := Compile(options, []string{"kube-system"})
		v, _ := newValidator(t, policy)
		rapid.Check(t, func(rt *rapid.T) {
			in := podvalidation.Input{Pod: drawPod(rt), Options: options}
			if rapid.Bool().Draw(rt, "update") {
				in.Old = drawPod(rt)
				if rapid.Bool().Draw(rt, "same labels") {
					in.Old.Labels, in.Old.Spec = in.Pod.Labels, in.Pod.Spec
				}
			}
			if diff := cmp.Diff(wanted(in), texts(t, v, in.Pod, in.Old)); diff != "" {
				rt.Fatalf("refusals (-decision +policy):\n%s", diff)
			}
		})
	}
}

// TestAnUpdateThatTheWebhookWouldRefuseIsRefusedByThePolicy: once the policy is in force, nothing else checks updates.
// The API server itself refuses updates of the resources and the priority of a pod.
func TestAnUpdateThatTheWebhookWouldRefuseIsRefusedByThePolicy(t *testing.T) {
	policy, _ := Compile(podvalidation.Options{}, nil)
	v, _ := newValidator(t, policy)
	rapid.Check(t, func(rt *rapid.T) {
		old, pod := drawPod(rt), drawPod(rt)
		pod.Spec = old.Spec
		quota := &podvalidation.Quota{Name: "team", Exists: rapid.Bool().Draw(rt, "exists"), Parent: rapid.Bool().Draw(rt, "parent")}
		in := podvalidation.Input{Pod: pod, Old: old, Quota: quota, Options: podvalidation.Options{RequireQuota: true}}
		if want, got := podvalidation.Refused(podvalidation.Validate(in)), len(texts(t, v, pod, old)) > 0; want != got {
			rt.Fatalf("the webhook refuses: %v, the policy: %v", want, got)
		}
	})
}

func BenchmarkPolicy(b *testing.B) {
	policy, _ := Compile(podvalidation.Options{}, nil)
	v, _ := newValidator(b, policy)
	with := func(labels map[string]string, priority int32, name corev1.ResourceName) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: labels}, Spec: corev1.PodSpec{
			Priority: &priority, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{name: resource.MustParse("1k")}}}}}}
	}
	for name, pod := range map[string]*corev1.Pod{
		"batch": with(map[string]string{extension.LabelPodQoS: "BE"}, 5500, extension.BatchCPU), "without co-location": with(map[string]string{"app": "shop"}, 0, corev1.ResourceCPU),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				texts(b, v, pod, nil)
			}
		})
	}
}
