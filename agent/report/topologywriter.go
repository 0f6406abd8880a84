package report

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/client-go/rest"

	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

const topologyResource = "noderesourcetopologies"

// TopologyWriter writes NodeResourceTopologies. It is safe for concurrent use.
type TopologyWriter struct {
	client rest.Interface
}

// NewTopologyWriter returns a TopologyWriter over a client of the group topology.node.k8s.io/v1alpha1.
func NewTopologyWriter(client rest.Interface) *TopologyWriter { return &TopologyWriter{client: client} }

// Write makes the cluster's object, current, say what is wanted, as MergeTopology does; a nil current creates it. It
// writes nothing, and returns false, when nothing differs. An object that is not the current one any more is a conflict,
// or exists already, and is left as it is.
func (w *TopologyWriter) Write(ctx context.Context, current, wanted *topologyv1alpha1.NodeResourceTopology) (written bool, err error) {
	if current == nil {
		if err := w.create(ctx, wanted); err != nil {
			return false, fmt.Errorf("create NodeResourceTopology %q: %w", wanted.Name, err)
		}
		return true, nil
	}
	merged := MergeTopology(current, wanted)
	if equality.Semantic.DeepEqual(current, merged) {
		return false, nil
	}
	patch, err := topologyPatch(current, merged)
	if err == nil {
		err = w.client.Patch(types.MergePatchType).Resource(topologyResource).Name(wanted.Name).
			SetHeader("Accept", metadataOnly).Body(patch).Do(ctx).Error()
	}
	if err != nil {
		return false, fmt.Errorf("update NodeResourceTopology %q: %w", wanted.Name, err)
	}
	return true, nil
}

func (w *TopologyWriter) create(ctx context.Context, wanted *topologyv1alpha1.NodeResourceTopology) error {
	object := wanted.DeepCopy()
	object.APIVersion, object.Kind = topologyv1alpha1.GroupVersion.String(), "NodeResourceTopology"
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return w.client.Post().Resource(topologyResource).SetHeader("Accept", metadataOnly).
		SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
}

// topologyPatch is the JSON merge patch (RFC 7386) between two versions of an object, on condition that the first one
// still stands. It names no field that is the same in both, so that fields this version does not know stay.
func topologyPatch(current, merged *topologyv1alpha1.NodeResourceTopology) ([]byte, error) {
	unversioned := current.DeepCopy()
	unversioned.ResourceVersion = ""
	before, err := json.Marshal(unversioned)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	return jsonmergepatch.CreateThreeWayJSONMergePatch(before, after, before)
}
