package networktopology

import (
	"fmt"
	"slices"
	"strings"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Layer of the network, and the node labels that express it.
type Layer struct {
	Name   schedulingv1alpha1.TopologyLayer
	Labels []string
}

// Layers from the cluster down to the nodes.
type Layers []Layer

// LayersOf reads the layers of a ClusterNetworkTopology; nil has the cluster and the nodes only. Layers that do not form one
// line are an error: a node would be in two domains of which neither holds the other.
func LayersOf(topology *schedulingv1alpha1.ClusterNetworkTopology) (Layers, error) {
	layers := Layers{{Name: schedulingv1alpha1.ClusterTopologyLayer}}
	if topology != nil {
		below, err := childrenOf(topology.Spec.NetworkTopologySpec)
		if err != nil {
			return nil, err
		}
		for at := schedulingv1alpha1.ClusterTopologyLayer; below[at] != nil; at = layers[len(layers)-1].Name {
			next := below[at]
			delete(below, at)
			layers = append(layers, Layer{Name: next.TopologyLayer, Labels: next.LabelKey})
		}
		for parent, child := range below {
			return nil, fmt.Errorf(beginInvalid+"layer %q below %q is not connected to %q", child.TopologyLayer, parent, schedulingv1alpha1.ClusterTopologyLayer)
		}
	}
	return append(layers, Layer{Name: schedulingv1alpha1.NodeTopologyLayer}), nil
}

// childrenOf finds the one layer below each.
func childrenOf(specs []schedulingv1alpha1.NetworkTopologySpec) (map[schedulingv1alpha1.TopologyLayer]*schedulingv1alpha1.NetworkTopologySpec, error) {
	below := map[schedulingv1alpha1.TopologyLayer]*schedulingv1alpha1.NetworkTopologySpec{}
	for i := range specs {
		spec := &specs[i]
		if spec.TopologyLayer == schedulingv1alpha1.NodeTopologyLayer || spec.TopologyLayer == schedulingv1alpha1.ClusterTopologyLayer {
			continue
		}
		parent := spec.ParentTopologyLayer
		if parent == "" {
			parent = schedulingv1alpha1.ClusterTopologyLayer
		}
		if other := below[parent]; other != nil {
			return nil, fmt.Errorf(beginInvalid+"layers %q and %q are both below %q", other.TopologyLayer, spec.TopologyLayer, parent)
		}
		below[parent] = spec
	}
	return below, nil
}

// index of a layer, -1 when there is none of the name.
func (l Layers) index(name schedulingv1alpha1.TopologyLayer) int {
	return slices.IndexFunc(l, func(layer Layer) bool { return layer.Name == name })
}

// Node is what a node offers.
type Node struct {
	Name   string
	Labels map[string]string
	// Slots for members that have no node yet.
	Slots int
	// Members that have this node already.
	Members int
	// Score of the node for a member, more is better.
	Score int64
}

// Domain is a part of the network.
type Domain struct {
	Layer schedulingv1alpha1.TopologyLayer
	// Name is the path from the cluster: labels of two spines may be the same below different ones.
	Name     string
	Children []*Domain
	// Slots that can be used under the rules; Members that are there already.
	Slots, Members int
	Score          int64
	depth          int
}

// buildTree arranges nodes by their labels. Nodes without the label of some layer are left out.
func buildTree(layers Layers, nodes []Node) *Domain {
	root := &Domain{Layer: layers[0].Name, Name: "cluster"}
	known := map[string]*Domain{}
	for i := range nodes {
		path, complete := pathOf(layers, &nodes[i])
		if !complete {
			continue
		}
		at := root
		for depth, name := range path {
			full := at.Name + "/" + name
			if at.depth == 0 {
				full = name
			}
			next := known[full]
			if next == nil {
				next = &Domain{Layer: layers[depth+1].Name, Name: full, depth: depth + 1}
				known[full] = next
				at.Children = append(at.Children, next)
			}
			at = next
		}
		at.Slots, at.Members, at.Score = nodes[i].Slots, nodes[i].Members, nodes[i].Score
	}
	return root
}

// pathOf names the domain of a node in each layer below the cluster; the last is the node itself.
func pathOf(layers Layers, node *Node) ([]string, bool) {
	path := make([]string, 0, len(layers)-1)
	for _, layer := range layers[1 : len(layers)-1] {
		value := ""
		for _, key := range layer.Labels {
			if value = node.Labels[key]; value != "" {
				break
			}
		}
		if value == "" {
			return nil, false
		}
		path = append(path, strings.ReplaceAll(value, "/", "_"))
	}
	return append(path, node.Name), true
}
