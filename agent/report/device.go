package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const deviceResource = "devices"

// DeviceInput is what a Device is made of.
type DeviceInput struct {
	// Node that has the devices.
	Node TopologyNode
	// Devices in the order in which they are reported.
	Devices []schedulingv1alpha1.DeviceInfo
	// Driver version of the GPUs; empty where none is known.
	Driver string
}

// Device is what the node's Device is to say.
func Device(in DeviceInput) *schedulingv1alpha1.Device {
	out := &schedulingv1alpha1.Device{
		ObjectMeta: metav1.ObjectMeta{
			Name: in.Node.Name, Labels: map[string]string{extension.LabelManagedBy: extension.ManagedByKoordinator},
			OwnerReferences: []metav1.OwnerReference{ownerOf(in.Node)},
		},
		Spec: schedulingv1alpha1.DeviceSpec{Devices: in.Devices},
	}
	for _, device := range in.Devices {
		if device.Type != schedulingv1alpha1.GPU {
			continue
		}
		maps.Copy(out.Labels, device.Labels)
		if model := device.Labels[extension.LabelGPUModel]; model != "" {
			out.Labels[extension.DeprecatedLabelGPUModel] = model
		}
		if in.Driver != "" {
			for _, key := range []string{extension.LabelGPUDriverVersion, extension.LabelGPUDriver, extension.DeprecatedLabelGPUDriver} {
				out.Labels[key] = in.Driver
			}
		}
		break // GPUs of one machine are of one kind
	}
	return out
}

// DeviceWriter keeps Devices. One goroutine at a time may use it.
type DeviceWriter struct {
	client rest.Interface
	// current is what the cluster has, as far as is known; nil before it was asked.
	current *schedulingv1alpha1.Device
}

// NewDeviceWriter returns a DeviceWriter over a client of the group scheduling.koordinator.sh/v1alpha1.
func NewDeviceWriter(client rest.Interface) *DeviceWriter { return &DeviceWriter{client: client} }

// Forget has the next Write read the object again: another client may have changed it.
func (w *DeviceWriter) Forget() { w.current = nil }

// Write makes the cluster's object say what is wanted, and creates it when there is none and a device to report. Labels and
// annotations of others stay. It writes nothing, and returns false, while nothing differs.
func (w *DeviceWriter) Write(ctx context.Context, wanted *schedulingv1alpha1.Device) (bool, error) {
	written, err := w.write(ctx, wanted)
	if err != nil {
		w.Forget()
		return false, fmt.Errorf("report Device %q: %w", wanted.Name, err)
	}
	return written, nil
}

func (w *DeviceWriter) write(ctx context.Context, wanted *schedulingv1alpha1.Device) (bool, error) {
	if w.current == nil {
		found := &schedulingv1alpha1.Device{}
		err := w.client.Get().Resource(deviceResource).Name(wanted.Name).Do(ctx).Into(found)
		switch {
		case apierrors.IsNotFound(err) && len(wanted.Spec.Devices) == 0:
			return false, nil
		case apierrors.IsNotFound(err):
			return true, w.create(ctx, wanted)
		case err != nil:
			return false, err
		}
		w.current = found
	}
	merged := w.current.DeepCopy()
	if merged.Labels == nil {
		merged.Labels = map[string]string{}
	}
	maps.Copy(merged.Labels, wanted.Labels)
	wanted = wanted.DeepCopy() // what the cluster has is remembered
	merged.OwnerReferences, merged.Spec.Devices = wanted.OwnerReferences, wanted.Spec.Devices
	if equality.Semantic.DeepEqual(merged, w.current) {
		return false, nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": merged.Labels, "ownerReferences": merged.OwnerReferences, "uid": w.current.UID},
		"spec":     map[string]any{"devices": devicesOf(merged)},
	})
	if err != nil {
		return false, err
	}
	err = w.client.Patch(types.MergePatchType).Resource(deviceResource).Name(wanted.Name).SetHeader("Accept", metadataOnly).Body(patch).Do(ctx).Error()
	if err == nil {
		w.current = merged
	}
	return err == nil, err
}

// devicesOf is never null, which would take the list away instead of emptying it.
func devicesOf(device *schedulingv1alpha1.Device) []schedulingv1alpha1.DeviceInfo {
	if device.Spec.Devices == nil {
		return []schedulingv1alpha1.DeviceInfo{}
	}
	return device.Spec.Devices
}

func (w *DeviceWriter) create(ctx context.Context, wanted *schedulingv1alpha1.Device) error {
	object := wanted.DeepCopy()
	object.APIVersion, object.Kind = schedulingv1alpha1.GroupVersion.String(), "Device"
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return w.client.Post().Resource(deviceResource).SetHeader("Accept", metadataOnly).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
}
