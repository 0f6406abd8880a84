package yarn

// restResource is a ResourceInfo of the REST API.
type restResource struct {
	Memory int64 `json:"memory"`
	VCores int64 `json:"vCores"`
}

// restNode is a NodeInfo of the REST API.
type restNode struct {
	ID         string        `json:"id"`
	State      string        `json:"state"`
	HTTP       string        `json:"nodeHTTPAddress"`
	Containers int64         `json:"numContainers"`
	UsedMB     int64         `json:"usedMemoryMB"`
	FreeMB     int64         `json:"availMemoryMB"`
	UsedVCores int64         `json:"usedVirtualCores"`
	FreeVCores int64         `json:"availableVirtualCores"`
	Total      *restResource `json:"totalResource"`
}

// restStates are the states that are asked for; all others take no work.
var restStates = map[string]NodeState{
	"NEW": StateNew, "RUNNING": StateRunning, "UNHEALTHY": StateUnhealthy, "DECOMMISSIONING": StateDecommissioning,
}

// node is the node as RPC has it. Releases that do not say its total say what is free of it, which is below zero while it shrinks.
func (n restNode) node() (Node, error) {
	id, err := ParseNodeID(n.ID)
	if err != nil {
		return Node{}, err
	}
	out := Node{
		ID: id, State: restStates[n.State], HTTPAddress: n.HTTP, Containers: n.Containers, Used: Resource{VCores: n.UsedVCores, MiB: n.UsedMB},
		Capability: Resource{VCores: n.UsedVCores + n.FreeVCores, MiB: n.UsedMB + n.FreeMB},
	}
	if n.Total != nil {
		out.Capability = Resource{VCores: n.Total.VCores, MiB: n.Total.Memory}
	}
	return out, nil
}
