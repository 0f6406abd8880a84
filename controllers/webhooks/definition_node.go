package webhooks

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/webhooks/node"
	"koordinator.sh/koord/decision/colocationprofile/policy"
)

// mutateNodeStatusName is the name of the webhook for node statuses.
const mutateNodeStatusName = "mutate-node-status.koordinator.sh"

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
