package labelpolicy

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// Name of the policy and of its binding.
const Name = "koordinator-pod-labels"

// Codes are the refusals that the policy decides; of updates it decides the immutability alone, from which the others
// follow.
func Codes() []finding.Code {
	return []finding.Code{finding.AdmissionReservePod, finding.AdmissionFieldImmutable, finding.AdmissionBatchNeedsBE, finding.AdmissionClassForbidden}
}

// Compile expresses the rules for pods outside of the exempt namespaces.
func Compile(options podvalidation.Options, exempt []string) (*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	kind := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: kind}
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta: kind("ValidatingAdmissionPolicy"), ObjectMeta: metav1.ObjectMeta{Name: Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: constraints(exempt),
			MatchConditions: []admissionregistrationv1.MatchCondition{
				{Name: "not-while-it-is-deleted", Expression: "!has(object.metadata.deletionTimestamp)"},
				{Name: "created-or-changed-in-co-location", Expression: concerned()},
			},
			FailurePolicy: new(admissionregistrationv1.Fail),
			Variables:     variables(),
		},
	}
	for _, rule := range rules(options) {
		policy.Spec.Validations = append(policy.Spec.Validations, rule.validation())
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta: kind("ValidatingAdmissionPolicyBinding"), ObjectMeta: metav1.ObjectMeta{Name: Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	return policy, binding
}

// constraints match pods that are created or updated. Their statuses, and the resizing of their containers, change no label.
func constraints(exempt []string) *admissionregistrationv1.MatchResources {
	namespaces := &metav1.LabelSelector{}
	if len(exempt) > 0 {
		namespaces.MatchExpressions = []metav1.LabelSelectorRequirement{{
			Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: exempt,
		}}
	}
	return &admissionregistrationv1.MatchResources{
		NamespaceSelector: namespaces, ObjectSelector: &metav1.LabelSelector{}, MatchPolicy: new(admissionregistrationv1.Equivalent),
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}, Scope: new(admissionregistrationv1.NamespacedScope),
				},
			},
		}},
	}
}
