package noderesource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/amplification"
	"koordinator.sh/koord/decision/deviceresource"
	"koordinator.sh/koord/decision/layering"
	"koordinator.sh/koord/decision/normalization"
)

// extensions decide what a node gets beside batch and mid resources: what its cpus are worth, by how much it is shown
// larger, and its devices. A reader that is nil is not asked.
type extensions struct {
	// topologies reads NodeResourceTopologies, devices reads Devices.
	topologies, devices client.Reader
	sharedGPU           bool
}

// extended is what was decided for one node.
type extended struct {
	normalizing   normalization.Input
	normalization normalization.Result
	amplifying    amplification.Input
	amplification amplification.Result
	equipping     deviceresource.Input
	devices       deviceresource.Result
	// withDevices is false when Devices were not looked at.
	withDevices bool
}

// decide decides for one node; it is not modified.
func (e extensions) decide(ctx context.Context, node *corev1.Node, config layering.Config) (extended, error) {
	out := extended{normalizing: normalization.Input{Node: node, Strategy: config.CPUNormalization(node)}}
	var err error
	if out.normalizing.CPU, out.normalizing.Unknown, err = e.readCPU(ctx, node.Name); err != nil {
		return out, err
	}
	out.normalization = normalization.Decide(out.normalizing)
	out.amplifying = amplification.Input{Node: node, Strategy: config.ResourceAmplification(node), NormalizationPercent: out.normalization.Percent}
	out.amplification = amplification.Decide(out.amplifying)
	if e.devices == nil {
		return out, nil
	}
	out.equipping, out.withDevices = deviceresource.Input{Node: node, Shared: e.sharedGPU}, true
	if out.equipping.Device, err = e.readDevice(ctx, node.Name); err != nil {
		return out, err
	}
	out.devices = deviceresource.Decide(out.equipping)
	return out, nil
}

// readCPU is what the node agent reported of the cpu, or why that is not known.
func (e extensions) readCPU(ctx context.Context, name string) (*extension.CPUBasicInfo, string, error) {
	if e.topologies == nil {
		return nil, "NodeResourceTopologies are not served", nil
	}
	var topology topologyv1alpha1.NodeResourceTopology
	if err := e.topologies.Get(ctx, types.NamespacedName{Name: name}, &topology, uncopied); err != nil {
		if absent(err) {
			return nil, "the node has no NodeResourceTopology", nil
		}
		return nil, "", fmt.Errorf("get noderesourcetopology %q: %w", name, err)
	}
	info, err := extension.GetCPUBasicInfo(topology.Annotations)
	switch {
	case err != nil:
		return nil, err.Error(), nil
	case info == nil:
		return nil, "the node's NodeResourceTopology does not name it", nil
	}
	return info, "", nil
}

func (e extensions) readDevice(ctx context.Context, name string) (*schedulingv1alpha1.Device, error) {
	device := &schedulingv1alpha1.Device{}
	if err := e.devices.Get(ctx, types.NamespacedName{Name: name}, device, uncopied); err != nil {
		if absent(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get device %q: %w", name, err)
	}
	return device, nil
}

// absent reports whether an object, or its whole kind, does not exist.
func absent(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// addTo adds what has to change of the node.
func (e extended) addTo(u *update) {
	if e.normalization.Write != "" {
		u.annotations[extension.AnnotationCPUNormalizationRatio] = e.normalization.Write
	}
	switch {
	case e.amplification.Write != "":
		u.annotations[extension.AnnotationNodeResourceAmplificationRatio] = e.amplification.Write
	case e.amplification.Remove:
		u.annotations[extension.AnnotationNodeResourceAmplificationRatio] = nil
	}
	if !e.withDevices {
		return
	}
	node := e.equipping.Node
	for name, quantity := range e.devices.Changes(node.Status.Capacity) {
		u.capacity[string(name)] = quantity.String()
	}
	for name, quantity := range e.devices.Changes(node.Status.Allocatable) {
		u.allocatable[string(name)] = quantity.String()
	}
	for _, name := range e.devices.Withdrawn {
		u.capacity[string(name)], u.allocatable[string(name)] = nil, nil
	}
	for name, value := range e.devices.Labels {
		u.labels[name] = value
	}
	for _, name := range e.devices.Unlabelled {
		u.labels[name] = nil
	}
}
