package webhooks

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/webhooks/node"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/nodevalidation"
)

// Names of the webhooks for nodes and their statuses.
const (
	mutateNodeStatusName = "mutate-node-status.koordinator.sh"
	validateNodeName     = "validate-node.koordinator.sh"
)

// nodeTimeoutSeconds is how long a status may wait for an answer. A kubelet that gets none writes its status as it is, and
// does so long before its lease runs out.
const nodeTimeoutSeconds = 2

// mutatingNodes is the webhook for the statuses of nodes that are amplified, or are shown so still. No kubelet ever waits
// for it on another node, and none is ever refused because of it.
func (o *Options) mutatingNodes(bundle []byte) []admissionregistrationv1.MutatingWebhook {
	if !o.Nodes {
		return nil
	}
	amplified := fmt.Sprintf("has(object.metadata.annotations) && (%q in object.metadata.annotations || %q in object.metadata.annotations)",
		extension.AnnotationNodeResourceAmplificationRatio, extension.AnnotationNodeRawAllocatable)
	return []admissionregistrationv1.MutatingWebhook{{
		Name:         mutateNodeStatusName,
		ClientConfig: o.clientConfig(node.Path, bundle),
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes/status"}, Scope: new(admissionregistrationv1.ClusterScope),
			},
		}},
		FailurePolicy:     new(admissionregistrationv1.Ignore),
		NamespaceSelector: policy.OutsideOf(nil),
		TimeoutSeconds:    new(int32(nodeTimeoutSeconds)),
		MatchConditions:   []admissionregistrationv1.MatchCondition{{Name: "amplified", Expression: amplified}},
	}}
}

// validatingNodes is the webhook for nodes that are created with, or change the value of, a validated label or annotation. All other
// node updates skip it, and while koord-manager does not answer nothing is refused.
func (o *Options) validatingNodes(bundle []byte) []admissionregistrationv1.ValidatingWebhook {
	if !o.ValidateNodes {
		return nil
	}
	var has, differ []string
	add := func(field string, keys []string) {
		var in []string
		for _, key := range keys {
			in = append(in, fmt.Sprintf("%q in object.metadata.%s", key, field))
			differ = append(differ, fmt.Sprintf("object.?metadata.?%[1]s[?%[2]q] != oldObject.?metadata.?%[1]s[?%[2]q]", field, key))
		}
		has = append(has, fmt.Sprintf("(has(object.metadata.%s) && (%s))", field, strings.Join(in, " || ")))
	}
	labels, annotations := nodevalidation.Keys()
	add("labels", labels)
	add("annotations", annotations)
	return []admissionregistrationv1.ValidatingWebhook{{
		Name:         validateNodeName,
		ClientConfig: o.clientConfig(node.ValidatePath, bundle),
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes"}, Scope: new(admissionregistrationv1.ClusterScope),
			},
		}},
		FailurePolicy:     new(admissionregistrationv1.Ignore),
		NamespaceSelector: policy.OutsideOf(nil),
		TimeoutSeconds:    new(int32(nodeTimeoutSeconds)),
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "made-or-changed-in-co-location",
			Expression: fmt.Sprintf(`request.operation == "CREATE" ? (%s) : (%s)`, strings.Join(has, " || "), strings.Join(differ, " || "))}},
	}}
}
