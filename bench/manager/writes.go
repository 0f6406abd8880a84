package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/bench/controlplane"
)

// Answers that a client may ask for.
const (
	wholeObject = "application/json"
	// metadataOnly spares the API server and the client the encoding of what the client has just sent.
	metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)

// way is one way to write one object.
type way struct {
	name string
	// path of the collection, and of what is below the object: "/status".
	path, below string
	// patch is the type of the patch; a PUT of the whole object when empty. answer is the Accept header.
	patch  types.PatchType
	answer string
	// body is what is sent, made from the object as it is.
	body func(object *unstructured.Unstructured, round int) any
}

const (
	nodeSLOPath = "/apis/slo.koordinator.sh/v1alpha1/nodeslos"
	nodePath    = "/api/v1/nodes"
)

// writeWays are compared with one another: NodeSLOs and the statuses of nodes, as the controllers change them. The one after
// which the API server keeps no managed fields of NodeSLOs is the last of theirs.
var writeWays = []way{
	{"node status, merge patch", nodePath, "/status", types.MergePatchType, wholeObject, offerPatch},
	{"node status, merge patch, answered by metadata", nodePath, "/status", types.MergePatchType, metadataOnly, offerPatch},
	{"node status, update", nodePath, "/status", "", wholeObject, withOffer},
	{"NodeSLO, merge patch", nodeSLOPath, "", types.MergePatchType, wholeObject, thresholdPatch},
	{"NodeSLO, merge patch, answered by metadata", nodeSLOPath, "", types.MergePatchType, metadataOnly, thresholdPatch},
	{"NodeSLO, update", nodeSLOPath, "", "", wholeObject, withThreshold},
	{"NodeSLO, merge patch, without managed fields", nodeSLOPath, "", types.MergePatchType, wholeObject, untrackedPatch},
}

func threshold(round int) map[string]any {
	return map[string]any{"resourceUsedThresholdWithBE": map[string]any{"cpuSuppressThresholdPercent": int64(60 + round%20)}}
}

func precondition(object *unstructured.Unstructured) map[string]any {
	return map[string]any{"resourceVersion": object.GetResourceVersion()}
}

func thresholdPatch(object *unstructured.Unstructured, round int) any {
	return map[string]any{"metadata": precondition(object), "spec": threshold(round)}
}

// untrackedPatch resets the managed fields, which the API server then does not keep.
func untrackedPatch(object *unstructured.Unstructured, round int) any {
	metadata := precondition(object)
	if len(object.GetManagedFields()) > 0 {
		metadata["managedFields"] = []any{map[string]any{}}
	}
	return map[string]any{"metadata": metadata, "spec": threshold(round)}
}

func withThreshold(object *unstructured.Unstructured, round int) any {
	changed := object.DeepCopy()
	for key, value := range threshold(round)["resourceUsedThresholdWithBE"].(map[string]any) {
		_ = unstructured.SetNestedField(changed.Object, value, "spec", "resourceUsedThresholdWithBE", key)
	}
	return changed
}

func offer(round int) map[string]any {
	return map[string]any{"kubernetes.io/batch-cpu": fmt.Sprint(10000 + round), "kubernetes.io/batch-memory": fmt.Sprint(1 << 30 * (1 + round%20))}
}

func offerPatch(object *unstructured.Unstructured, round int) any {
	return map[string]any{"metadata": precondition(object), "status": map[string]any{"capacity": offer(round), "allocatable": offer(round)}}
}

func withOffer(object *unstructured.Unstructured, round int) any {
	changed := object.DeepCopy()
	for _, list := range []string{"capacity", "allocatable"} {
		amounts, _, _ := unstructured.NestedMap(changed.Object, "status", list)
		maps.Copy(amounts, offer(round))
		_ = unstructured.SetNestedMap(changed.Object, amounts, "status", list)
	}
	return changed
}

// writes measures what a write costs the API server and etcd by the way it is written, on the objects that koord-manager has
// made; the manager is stopped meanwhile.
func (f *fleet) writes(ctx context.Context) ([]figure, error) {
	if err := f.stopManager(); err != nil {
		return nil, err
	}
	client, err := rawClient(f.Config)
	if err != nil {
		return nil, err
	}
	used := make([][]float64, len(writeWays))
	for i, w := range writeWays {
		for round := range f.chosen.runs {
			cpu, err := f.write(ctx, client, w, 1+i*f.chosen.runs+round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			used[i] = append(used[i], milliseconds(cpu))
		}
	}
	figures := make([]figure, len(writeWays))
	for i, w := range writeWays {
		figures[i] = told("CPU time of the API server and etcd for one write, "+w.name, median(used[i]), "ms",
			fmt.Sprintf("%.3g to %.3g in %d turns of %d", slices.Min(used[i]), slices.Max(used[i]), f.chosen.runs, min(f.chosen.nodes, written)))
	}
	return figures, nil
}

// written is how many objects are written in a turn, at most.
const written = 500

// write changes objects once and returns what the API server and etcd have used for each.
func (f *fleet) write(ctx context.Context, client rest.Interface, w way, round int) (time.Duration, error) {
	data, err := client.Get().AbsPath(w.path).Param("limit", strconv.Itoa(written)).SetHeader("Accept", wholeObject).Do(ctx).Raw()
	if err != nil {
		return 0, err
	}
	var list unstructured.UnstructuredList
	if err := list.UnmarshalJSON(data); err != nil {
		return 0, err
	}
	bodies := make([][]byte, len(list.Items))
	for i := range list.Items {
		if bodies[i], err = json.Marshal(w.body(&list.Items[i], round)); err != nil {
			return 0, err
		}
	}
	before, err := f.CPU()
	if err != nil {
		return 0, err
	}
	err = controlplane.SideBySide(ctx, len(bodies), func(ctx context.Context, i int) error {
		return w.request(client).AbsPath(w.path, list.Items[i].GetName()+w.below).Param("fieldManager", "koord-manager").
			SetHeader("Accept", w.answer).Body(bodies[i]).Do(ctx).Error()
	})
	if err != nil {
		return 0, err
	}
	after, err := f.CPU()
	return (after - before) / time.Duration(max(len(bodies), 1)), err
}

func (w way) request(client rest.Interface) *rest.Request {
	if w.patch == "" {
		return client.Put().SetHeader("Content-Type", "application/json")
	}
	return client.Patch(w.patch)
}

// rawClient sends and returns bytes.
func rawClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	return rest.RESTClientFor(config)
}
