package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/bench/controlplane"
)

// Answers that a client may ask for.
const (
	wholeObject   = "application/json"
	wholeProtobuf = runtime.ContentTypeProtobuf
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
	// unchecked has the API server not look for fields that it does not know.
	unchecked bool
	// body is what is sent, made from the object as it is.
	body func(object *unstructured.Unstructured, round int) any
}

const (
	nodeSLOPath = "/apis/slo.koordinator.sh/v1alpha1/nodeslos"
	nodePath    = "/api/v1/nodes"
)

// writeWays are compared with one another: NodeSLOs and the statuses of nodes, as the controllers change them. Those of one group
// take turns. After the last group the API server keeps no managed fields of NodeSLOs.
var writeWays = [][]way{
	{
		{name: "node status, merge patch", path: nodePath, below: "/status", patch: types.MergePatchType, answer: wholeObject, body: offerPatch},
		{name: "node status, merge patch, answered by metadata", path: nodePath, below: "/status", patch: types.MergePatchType, answer: metadataOnly, body: offerPatch},
		{name: "node status, merge patch, fields not checked", path: nodePath, below: "/status", patch: types.MergePatchType, answer: wholeObject, unchecked: true, body: offerPatch},
		{name: "node status, strategic merge patch", path: nodePath, below: "/status", patch: types.StrategicMergePatchType, answer: wholeObject, body: offerPatch},
		{name: "node status, strategic merge patch, answered in protobuf", path: nodePath, below: "/status", patch: types.StrategicMergePatchType, answer: wholeProtobuf, body: offerPatch},
		{name: "node status, update", path: nodePath, below: "/status", answer: wholeObject, body: withOffer},
	},
	{
		{name: "NodeSLO, merge patch", path: nodeSLOPath, patch: types.MergePatchType, answer: wholeObject, body: thresholdPatch},
		{name: "NodeSLO, merge patch, answered by metadata", path: nodeSLOPath, patch: types.MergePatchType, answer: metadataOnly, body: thresholdPatch},
		{name: "NodeSLO, update", path: nodeSLOPath, answer: wholeObject, body: withThreshold},
	},
	{
		{name: "NodeSLO, merge patch, without managed fields", path: nodeSLOPath, patch: types.MergePatchType, answer: wholeObject, body: untrackedPatch},
		{name: "NodeSLO, merge patch, without managed fields, fields not checked", path: nodeSLOPath, patch: types.MergePatchType, answer: wholeObject, unchecked: true, body: untrackedPatch},
		{name: "NodeSLO, merge patch, without managed fields, answered by metadata", path: nodeSLOPath, patch: types.MergePatchType, answer: metadataOnly, body: untrackedPatch},
	},
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
	var figures []figure
	round := 0
	for _, group := range writeWays {
		used := make([][]float64, len(group))
		for range f.chosen.runs {
			round++
			for i, w := range group {
				cpu, err := f.write(ctx, client, w, round*len(group)+i)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", w.name, err)
				}
				used[i] = append(used[i], milliseconds(cpu))
			}
		}
		for i, w := range group {
			figures = append(figures, measurement("CPU time of the API server and etcd for one write, "+w.name, median(used[i]), "ms",
				fmt.Sprintf("%.3g to %.3g in %d turns of %d", slices.Min(used[i]), slices.Max(used[i]), f.chosen.runs, min(f.chosen.nodes, written))))
		}
	}
	change, err := f.plainChange(ctx, client, round+1)
	return append(figures, change...), err
}

// plainChange measures the writes of a change that the offer of each node and each NodeSLO follow, sent by a client that does nothing
// else: it is the lower bound that the API server sets for any controller.
func (f *fleet) plainChange(ctx context.Context, client rest.Interface, round int) ([]figure, error) {
	var seconds, controlPlane []float64
	ways := []way{writeWays[0][0], writeWays[len(writeWays)-1][0]} // as koord-manager writes
	for turn := range f.chosen.runs {
		var all [][]prepared
		for _, w := range ways {
			ready, err := w.prepare(ctx, client, len(writeWays[0])*(round+turn), 0)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			all = append(all, ready)
		}
		before, err := f.CPU()
		if err != nil {
			return nil, err
		}
		began := time.Now()
		err = controlplane.SideBySide(ctx, len(ways)*f.chosen.nodes, func(ctx context.Context, i int) error {
			return all[i%len(ways)][i/len(ways)].send(ctx, client)
		})
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, time.Since(began).Seconds())
		after, err := f.CPU()
		if err != nil {
			return nil, err
		}
		controlPlane = append(controlPlane, (after - before).Seconds())
	}
	return []figure{
		measurement("the writes of a change that nodes and NodeSLOs follow, without koord-manager", median(seconds), "s",
			fmt.Sprintf("%d nodes, median of %d, by a client that has all of them ready", f.chosen.nodes, len(seconds))),
		measurement("the same, CPU time of the API server and etcd", median(controlPlane), "s", ""),
	}, nil
}

// written is how many objects are written in a turn, at most.
const written = 500

// write changes objects once and returns what the API server and etcd have used for each.
func (f *fleet) write(ctx context.Context, client rest.Interface, w way, round int) (time.Duration, error) {
	ready, err := w.prepare(ctx, client, round, written)
	if err != nil {
		return 0, err
	}
	before, err := f.CPU()
	if err != nil {
		return 0, err
	}
	err = controlplane.SideBySide(ctx, len(ready), func(ctx context.Context, i int) error { return ready[i].send(ctx, client) })
	if err != nil {
		return 0, err
	}
	after, err := f.CPU()
	return (after - before) / time.Duration(max(len(ready), 1)), err
}

// prepared is a write that is ready to be sent.
type prepared struct {
	way
	name string
	body []byte
}

// prepare makes the writes of a turn, one for each object and at most limit, unless that is 0.
func (w way) prepare(ctx context.Context, client rest.Interface, round, limit int) ([]prepared, error) {
	data, err := client.Get().AbsPath(w.path).Param("limit", strconv.Itoa(limit)).SetHeader("Accept", wholeObject).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list unstructured.UnstructuredList
	if err := list.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	ready := make([]prepared, len(list.Items))
	for i := range list.Items {
		ready[i] = prepared{way: w, name: list.Items[i].GetName()}
		if ready[i].body, err = json.Marshal(w.body(&list.Items[i], round)); err != nil {
			return nil, err
		}
	}
	return ready, nil
}

func (p prepared) send(ctx context.Context, client rest.Interface) error {
	return p.request(client).AbsPath(p.path, p.name+p.below).SetHeader("Accept", p.answer).Body(p.body).Do(ctx).Error()
}

func (w way) request(client rest.Interface) *rest.Request {
	request := client.Put().SetHeader("Content-Type", "application/json")
	if w.patch != "" {
		request = client.Patch(w.patch)
	}
	if w.unchecked {
		request.Param("fieldValidation", metav1.FieldValidationIgnore)
	}
	return request.Param("fieldManager", "koord-manager")
}

// rawClient sends and returns bytes.
func rawClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	return rest.RESTClientFor(config)
}
