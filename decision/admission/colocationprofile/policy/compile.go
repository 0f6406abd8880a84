package policy

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// Name of the policy and of its binding.
const Name = "koordinator-colocation-profiles"

// Compilation is what profiles become.
type Compilation struct {
	// Verdicts says who applies each profile, in the order of their names.
	Verdicts []Verdict `json:"verdicts"`
	// Policy and Binding express the profiles whose path is ByPolicy. The policy exists also without such profiles, because
	// it repeats the batch and mid resources of containers in an annotation; it is nil when there is nothing to do at all.
	Policy  *admissionregistrationv1.MutatingAdmissionPolicy        `json:"policy,omitempty"`
	Binding *admissionregistrationv1.MutatingAdmissionPolicyBinding `json:"binding,omitempty"`
	// WebhookCondition is a CEL expression over object that is true for every pod that the webhook has to see, and possibly
	// for more, because it does not know namespaces; "false" when the policy suffices for all.
	WebhookCondition string `json:"webhookCondition"`
	// Repeatable reports whether admission may apply the profiles again to a pod that another plugin changed: no profile has
	// a probability or reads what another writes.
	Repeatable bool `json:"repeatable"`
	// unserved is true when the webhook applies every profile.
	unserved bool
}

// Options of the compilation.
type Options struct {
	colocationprofile.Options
	// Unserved says why no policy can be used, for example because the API server does not serve them; empty when they can.
	// The webhook then applies every profile.
	Unserved string
}

// Compile compiles the profiles.
func Compile(profiles []configv1alpha1.ClusterColocationProfile, classes map[string]colocationprofile.PriorityClass, options Options) Compilation {
	out := Compilation{Verdicts: judge(profiles, classes), Repeatable: repeatable(profiles, classes)}
	if options.Unserved != "" {
		for i := range out.Verdicts {
			if out.Verdicts[i].Path == ByPolicy {
				out.Verdicts[i].Path, out.Verdicts[i].Reason = ByWebhook, options.Unserved
			}
		}
		out.WebhookCondition, out.unserved = relevant(out.Verdicts), true
		return out
	}
	return out.withPolicy(options.Options)
}

// Everywhere is a CEL expression over object that is true for every pod that the profiles could change, whether the
// policy or the webhook applies them.
func (c Compilation) Everywhere() string { return relevant(c.Verdicts) }

// withPolicy adds the policy, its binding and the condition of the webhook.
func (c Compilation) withPolicy(options colocationprofile.Options) Compilation {
	p := &program{current: map[colocationprofile.Field]string{}}
	p.define("podLabels", "has(object.metadata.labels) ? object.metadata.labels : {}")
	p.define("podAnnotations", "has(object.metadata.annotations) ? object.metadata.annotations : {}")
	p.define("namespaceLabels", "has(namespaceObject.metadata.labels) ? namespaceObject.metadata.labels : {}")
	var matches, skipping, elsewhere []string
	for i := range c.Verdicts {
		verdict := &c.Verdicts[i]
		selected := allOf([]string{meets(verdict.selectors.Namespace, "variables.namespaceLabels"), meets(verdict.selectors.Pod, "variables.podLabels")})
		switch verdict.Path {
		case ByWebhook:
			elsewhere = append(elsewhere, selected)
		case ByPolicy:
			match := p.define(fmt.Sprintf("m%d", i), selected)
			matches = append(matches, match)
			if verdict.skips {
				skipping = append(skipping, match)
			}
			for _, step := range verdict.steps {
				p.add(match, step)
			}
		}
	}
	c.WebhookCondition = webhookCondition(c.Verdicts)
	parts := p.finish(matches, skipping, options)
	if len(parts) == 0 {
		return c
	}
	expression := strings.Join(parts, " + ")
	if len(elsewhere) > 0 {
		expression = fmt.Sprintf("%s ? [] : %s", anyOf(elsewhere), expression)
	}
	c.Policy, c.Binding = newPolicy(p.variables, expression, c.Verdicts, options), newBinding()
	return c
}

// repeatable reports whether applying the profiles twice gives the same as applying them once.
func repeatable(profiles []configv1alpha1.ClusterColocationProfile, classes map[string]colocationprofile.PriorityClass) bool {
	for i := range profiles {
		if percent, err := colocationprofile.Percent(profiles[i].Spec.Probability); err == nil && percent > 0 && percent < 100 {
			return false
		}
	}
	return len(colocationprofile.Feedback(profiles, classes)) == 0
}

// finish defines what follows the steps, and returns the parts of the JSON patch.
func (p *program) finish(matches, skipping []string, options colocationprofile.Options) []string {
	p.defineTier()
	translate := "false"
	if !options.SkipResources && len(matches) > 0 {
		// A pod that was translated before, and is seen again because another plugin changed it, has nothing left to translate.
		translate = fmt.Sprintf(`variables.tier != "" && %s && !%s && %s`, anyOf(matches), anyOf(skipping), Requests(corev1.ResourceCPU, corev1.ResourceMemory))
	}
	p.defineResources(translate)
	if options.SkipResourceSpec {
		if len(matches) == 0 {
			return nil
		}
		return append(p.fieldPatches(""), resourcePatches()...)
	}
	p.defineRepetition()
	parts := append(p.fieldPatches("size(variables.repeated) > 0"), resourcePatches()...)
	return append(parts, repetitionPatch())
}

func newPolicy(variables []admissionregistrationv1.Variable, expression string, verdicts []Verdict, options colocationprofile.Options) *admissionregistrationv1.MutatingAdmissionPolicy {
	conditions := []admissionregistrationv1.MatchCondition{
		{Name: "without-resources-of-the-whole-pod", Expression: "!has(object.spec.resources)"},
		{Name: "with-co-location", Expression: relevant(verdicts)},
	}
	return &admissionregistrationv1.MutatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: Name, Annotations: describe(verdicts)},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: OutsideOf(options.ExemptNamespaces),
				ObjectSelector:    &metav1.LabelSelector{},
				MatchPolicy:       new(admissionregistrationv1.Equivalent),
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
						Rule: admissionregistrationv1.Rule{
							APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}, Scope: new(admissionregistrationv1.NamespacedScope),
						},
					},
				}},
			},
			MatchConditions: conditions,
			Variables:       variables,
			// A pod that asked for co-location and entered without would take resources away from services.
			FailurePolicy: new(admissionregistrationv1.Fail),
			// Containers that a webhook adds later are translated as well.
			ReinvocationPolicy: admissionregistrationv1.IfNeededReinvocationPolicy,
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: expression},
			}},
		},
	}
}

// OutsideOf selects all namespaces but the named ones.
func OutsideOf(namespaces []string) *metav1.LabelSelector {
	if len(namespaces) == 0 {
		return &metav1.LabelSelector{}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: namespaces,
	}}}
}

func newBinding() *admissionregistrationv1.MutatingAdmissionPolicyBinding {
	return &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: Name},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: Name},
	}
}
