package extension

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationAgentServing of a NodeResourceTopology says where the node's agent answers, and how it is known.
const AnnotationAgentServing = NodeDomainPrefix + "agent-serving"

// AgentAudience is the audience of tokens that only koordlet accepts.
const AgentAudience = "koordlet.koordinator.sh"

// CauseClusterEvictionBudget is the type of the cause in the status of an eviction that is refused because all node agents together evicted
// as many pods as they may.
const CauseClusterEvictionBudget metav1.CauseType = "ClusterEvictionBudget"

// AgentServing is where the agent of a node answers. Its address is one of the Node's.
type AgentServing struct {
	// Port of the node.
	Port int32 `json:"port"`
	// CertificateSHA256 is the hash of its serving certificate in DER, in hexadecimal digits: only the agent that has the key to
	// that certificate is the node's.
	CertificateSHA256 string `json:"certificateSHA256"`
}

// GetAgentServing decodes AnnotationAgentServing; nil without it.
func GetAgentServing(annotations map[string]string) (*AgentServing, error) {
	return DecodeAnnotation[AgentServing](annotations, AnnotationAgentServing)
}

// SetAgentServing writes AnnotationAgentServing.
func SetAgentServing(obj metav1.Object, serving *AgentServing) error {
	return EncodeAnnotation(obj, AnnotationAgentServing, serving)
}
