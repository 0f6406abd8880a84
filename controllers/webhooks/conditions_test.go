package webhooks

import (
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
)

// matches evaluates the match conditions of a webhook as the API server does.
func matches(t *testing.T, conditions []admissionregistrationv1.MatchCondition, attributes admission.Attributes) bool {
	t.Helper()
	compiler := plugincel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	var expressions []plugincel.ExpressionAccessor
	for i := range conditions {
		expressions = append(expressions, (*matchconditions.MatchCondition)(&conditions[i]))
	}
	evaluator := compiler.CompileCondition(expressions, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
	for _, err := range evaluator.CompilationErrors() {
		t.Fatal(err)
	}
	matcher := matchconditions.NewMatcher(evaluator, new(admissionregistrationv1.Fail), "webhook", "validating", "w")
	result := matcher.Match(t.Context(), &admission.VersionedAttributes{Attributes: attributes, VersionedKind: attributes.GetKind(),
		VersionedObject: attributes.GetObject(), VersionedOldObject: attributes.GetOldObject()}, nil, nil)
	if result.Error != nil {
		t.Fatal(result.Error)
	}
	return result.Matches
}

func podAttributes(pod, old *corev1.Pod, subresource string) admission.Attributes {
	operation, before := admission.Create, runtime.Object(nil)
	if old != nil {
		operation, before = admission.Update, old
	}
	return admission.NewAttributesRecord(pod, before, corev1.SchemeGroupVersion.WithKind("Pod"), "shop", pod.Name, corev1.SchemeGroupVersion.WithResource("pods"),
		subresource, operation, &metav1.CreateOptions{}, false, nil)
}

func labelled(name corev1.ResourceName, labels ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	for i := 0; i < len(labels); i += 2 {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, labels[i], labels[i+1])
	}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{name: resource.MustParse("1")}}}}
	return pod
}

func TestTheValidatingWebhookIsAskedAboutWhatNobodyElseDecides(t *testing.T) {
	plain := labelled(corev1.ResourceCPU)
	ls, lsr := labelled(corev1.ResourceCPU, extension.LabelPodQoS, "LS"), labelled(corev1.ResourceCPU, extension.LabelPodQoS, "LSR")
	batch := labelled(extension.BatchCPU, extension.LabelPodQoS, "BE")
	inQuota := labelled(corev1.ResourceCPU, extension.LabelQuotaName, "team")
	o := options()
	for name, test := range map[string]struct {
		pod, old                    *corev1.Pod
		subresource                 string
		wantAlone, wantBesidePolicy bool
	}{
		"a pod without co-location":     {plain, nil, "", false, false},
		"a pod of class LS":             {ls, nil, "", true, false},
		"a pod with CPUs of its own":    {lsr, nil, "", true, true},
		"a batch pod":                   {batch, nil, "", true, false},
		"a batch pod with plain cpu":    {with(batch, corev1.ResourceCPU), nil, "", true, true},
		"a mid pod":                     {labelled(extension.MidCPU), nil, "", true, true},
		"a pod in a quota":              {inQuota, nil, "", true, true},
		"an update of the class":        {ls, plain, "", true, false},
		"an update of something else":   {ls, ls, "", false, false},
		"a resize of a service":         {plain, plain, "resize", false, false},
		"a resize of CPUs of one's own": {lsr, lsr, "resize", true, true},
		"a resize of a pod in batch":    {batch, batch, "resize", true, true},
		"a resize of a pod of class LS": {ls, ls, "resize", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for byPolicy, want := range map[bool]bool{false: test.wantAlone, true: test.wantBesidePolicy} {
				webhook := o.validatingPods(nil, byPolicy, quotaNamespaces{})[0]
				got := matches(t, webhook.MatchConditions, podAttributes(test.pod, test.old, test.subresource))
				if byPolicy && test.old != nil && test.subresource == "" {
					got = false // no rule is about updates
				}
				if got != want {
					t.Errorf("beside the policy %v: asked %v, want %v", byPolicy, got, want)
				}
			}
		})
	}
}

// with adds a container with one more resource.
func with(pod *corev1.Pod, name corev1.ResourceName) *corev1.Pod {
	out := pod.DeepCopy()
	limits := corev1.ResourceRequirements{Limits: corev1.ResourceList{name: resource.MustParse("1")}}
	out.Spec.Containers = append(out.Spec.Containers, corev1.Container{Name: string(name), Resources: limits})
	return out
}

// TestNothingThatOnlyTheWebhookSaysGetsLost draws on all combinations of resources: a pod with a finding that is not the policy's
// is one that the webhook is asked about.
func TestNothingThatOnlyTheWebhookSaysGetsLost(t *testing.T) {
	o := options()
	names := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory}
	conditions, said := o.validatingPods(nil, true, quotaNamespaces{})[0].MatchConditions, 0
	for chosen := range 1 << len(names) {
		pod := labelled("other", extension.LabelPodQoS, "BE")
		pod.Spec.Priority = new(int32(5500))
		for i, name := range names {
			if chosen&(1<<i) != 0 {
				pod = with(pod, name)
			}
		}
		for _, f := range podvalidation.Validate(podvalidation.Input{Pod: pod}) {
			if slices.Contains(labelpolicy.Codes(), f.Code) {
				continue
			}
			said++
			if !matches(t, conditions, podAttributes(pod, nil, "")) {
				t.Errorf("nobody says of %v: %s", pod.Spec.Containers, f.Text())
			}
		}
	}
	if said == 0 {
		t.Error("no case has a finding")
	}
}

func TestTheWebhookForNodesIsAskedAboutItsKeysOnly(t *testing.T) {
	o := options()
	o.ValidateNodes = true
	node := func(labels, annotations map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels, Annotations: annotations}}
	}
	plain, reserved := node(map[string]string{"a": "b"}, nil), node(nil, map[string]string{extension.AnnotationNodeReservation: "{}"})
	for name, test := range map[string]struct {
		node, old *corev1.Node
		want      bool
	}{
		"a node that joins":                 {plain, nil, false},
		"one that joins with a reservation": {reserved, nil, true},
		"a reservation that comes":          {reserved, plain, true},
		"a reservation that goes":           {plain, reserved, true},
		"a label of somebody else":          {node(map[string]string{"a": "c"}, nil), plain, false},
		"a label of the NUMA policy":        {node(map[string]string{extension.LabelNodeNUMATopologyPolicy: "x"}, nil), plain, true},
	} {
		t.Run(name, func(t *testing.T) {
			operation, before := admission.Create, runtime.Object(nil)
			if test.old != nil {
				operation, before = admission.Update, test.old
			}
			attributes := admission.NewAttributesRecord(test.node, before, corev1.SchemeGroupVersion.WithKind("Node"), "", "n", corev1.SchemeGroupVersion.WithResource("nodes"),
				"", operation, &metav1.CreateOptions{}, false, nil)
			if got := matches(t, o.validatingNodes(nil)[0].MatchConditions, attributes); got != test.want {
				t.Errorf("asked %v, want %v", got, test.want)
			}
		})
	}
}
