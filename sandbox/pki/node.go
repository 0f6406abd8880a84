package pki

import (
	"time"

	"koordinator.sh/koord/sandbox/state"
)

// KubeletClientUser is who the API server is when it asks a kubelet for logs.
const KubeletClientUser = "koord-sandbox-kubelet-client"

// NodeKubeconfig names the client certificate and the kubeconfig of a real node's kubelet.
const NodeKubeconfig = "kubelet"

// NodePairs are the certificates of a real node.
type NodePairs struct {
	// Serving is what kubelet answers with.
	Serving Pair
	// Caller is what the API server calls kubelet with.
	Caller Pair
}

// EnsureNode makes the certificates of a real node, which answers for an address and its name. Its kubelet becomes a user of the
// cluster: the bundle's kubeconfigs are to be written after it.
func (b *Bundle) EnsureNode(dir state.Dir, now func() time.Time, name, address string) (NodePairs, error) {
	var pairs NodePairs
	ca, err := OpenAuthority(dir.PKI(), "ca", now)
	if err != nil {
		return pairs, err
	}
	kubelet := Identity{File: NodeKubeconfig, User: "system:node:" + name, Groups: []string{"system:nodes"}}
	if b.clients[NodeKubeconfig], err = ca.Issue(kubelet); err != nil {
		return pairs, err
	}
	serving := Identity{File: "kubelet-serving", User: kubelet.User, Groups: kubelet.Groups, Hosts: []string{name, address}}
	if pairs.Serving, err = ca.Issue(serving); err != nil {
		return pairs, err
	}
	pairs.Caller, err = ca.Issue(Identity{File: "kubelet-client", User: KubeletClientUser})
	return pairs, err
}
