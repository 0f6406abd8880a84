package noderesource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/noderesource/nodeextension"
)

// extensions decide what a node gets beside batch and mid resources: what its cpus are worth, by how much it is shown
// larger, and its devices. A reader that is nil is not asked.
type extensions struct {
	// topologies reads NodeResourceTopologies, devices reads Devices.
	topologies, devices client.Reader
	sharedGPU           bool
}

// decide decides for one node, which is not modified. A nil trace records nothing.
func (e extensions) decide(ctx context.Context, node *corev1.Node, config configmerge.Config, trace *nodeextension.Trace) (nodeextension.Verdict, error) {
	in := nodeextension.Input{Node: node, Config: config}
	var err error
	if in.CPU, err = e.readCPU(ctx, node.Name); err != nil {
		return nodeextension.Verdict{}, err
	}
	if e.devices != nil {
		device, err := e.readDevice(ctx, node.Name)
		if err != nil {
			return nodeextension.Verdict{}, err
		}
		in.Devices = &nodeextension.Devices{Object: device, SharedGPU: e.sharedGPU}
	}
	return nodeextension.Decide(in, trace), nil
}

// readCPU is what the node agent reported of the cpu, or why that is not known.
func (e extensions) readCPU(ctx context.Context, name string) (*nodeextension.CPU, error) {
	if e.topologies == nil {
		return &nodeextension.CPU{Unknown: "the API server does not serve NodeResourceTopology"}, nil
	}
	topology := &topologyv1alpha1.NodeResourceTopology{}
	if err := e.topologies.Get(ctx, types.NamespacedName{Name: name}, topology, uncopied); err != nil {
		if absent(err) {
			return nodeextension.CPUOf(nil), nil
		}
		return nil, fmt.Errorf("get noderesourcetopology %q: %w", name, err)
	}
	return nodeextension.CPUOf(topology), nil
}

// readDevice is the Device of a node; nil when it has none.
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

// extend adds what a decision changes of the node.
func (u *update) extend(node *corev1.Node, decided nodeextension.Verdict) {
	for key, value := range decided.Annotations() {
		if value == nil {
			u.annotations[key] = nil
		} else {
			u.annotations[key] = *value
		}
	}
	devices := decided.Devices
	if devices == nil {
		return
	}
	for name, quantity := range devices.Changes(node.Status.Capacity) {
		u.capacity[string(name)] = quantity.String()
	}
	for name, quantity := range devices.Changes(node.Status.Allocatable) {
		u.allocatable[string(name)] = quantity.String()
	}
	for _, name := range devices.Withdrawn {
		u.capacity[string(name)], u.allocatable[string(name)] = nil, nil
	}
	for name, value := range devices.Labels {
		u.labels[name] = value
	}
	for _, name := range devices.Unlabelled {
		u.labels[name] = nil
	}
}
