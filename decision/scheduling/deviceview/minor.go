package deviceview

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// minor is one device with who holds it.
func (v *view) minor(e *device.Entry) diagnosticsv1alpha1.DeviceMinor {
	out := diagnosticsv1alpha1.DeviceMinor{
		Minor: e.Minor, ID: e.ID, Healthy: e.Healthy, VirtualFunctions: int32(e.Functions), VirtualFunctionsHeld: int32(e.FunctionsHeld),
	}
	v.place(&out, v.info(e.Type, e.Minor))
	if !v.Unseen {
		out.FreePercent = new(e.FreePercent())
	}
	for _, m := range e.Measures {
		r := diagnosticsv1alpha1.DeviceResource{Resource: string(m.Resource), Unit: m.Unit, Total: m.Total, Held: m.Held}
		if !v.Unseen {
			r.Free = new(m.Free)
		}
		out.Resources = append(out.Resources, r)
	}
	for _, peer := range e.Near {
		out.Near = append(out.Near, diagnosticsv1alpha1.DevicePeer{Type: string(peer.Type), Minor: peer.Minor, Scope: string(peer.Scope)})
	}
	for i := range e.Shares {
		out.Holders = append(out.Holders, holderOf(&e.Shares[i]))
	}
	return out
}

// info is what the Device says of a device; of several with one minor, the first counts.
func (v *view) info(name schedulingv1alpha1.DeviceType, minor int32) *schedulingv1alpha1.DeviceInfo {
	at := slices.IndexFunc(v.Object.Spec.Devices, func(d schedulingv1alpha1.DeviceInfo) bool {
		return d.Type == name && minorOf(&d) == minor
	})
	if at < 0 {
		return nil
	}
	return &v.Object.Spec.Devices[at]
}

// minorOf is the minor of a device, 0 where it states none.
func minorOf(d *schedulingv1alpha1.DeviceInfo) int32 {
	if d.Minor == nil {
		return 0
	}
	return *d.Minor
}

// place says where a device is, and why it is not healthy.
func (v *view) place(out *diagnosticsv1alpha1.DeviceMinor, info *schedulingv1alpha1.DeviceInfo) {
	if info == nil {
		return
	}
	if t := info.Topology; t != nil {
		out.Socket, out.PCIe, out.BusID = new(t.SocketID), t.PCIEID, t.BusID
		if t.NodeID >= 0 {
			out.NUMANode = new(t.NodeID)
		}
	}
	for _, c := range info.Conditions {
		if !info.Health && c.Status != metav1.ConditionTrue && c.Message != "" {
			out.Reason = c.Message
			return
		}
	}
}

func holderOf(s *device.Share) diagnosticsv1alpha1.DeviceHolder {
	out := diagnosticsv1alpha1.DeviceHolder{Percent: s.Percent}
	out.Kind, out.Namespace, out.Name = named(s.Pod)
	for _, m := range s.Held {
		out.Resources = append(out.Resources, diagnosticsv1alpha1.ForecastAmount{Resource: string(m.Resource), Amount: m.Held, Unit: m.Unit})
	}
	return out
}

// Kinds of objects that hold devices.
const podKind, reservationKind = "Pod", "Reservation"

// named is the object that a pod stands for: itself, or its Reservation.
func named(pod *corev1.Pod) (kind, namespace, name string) {
	if reservation.IsReservePod(pod) {
		return reservationKind, "", reservation.NameOf(pod)
	}
	return podKind, pod.Namespace, pod.Name
}

// unmanaged are devices of a type that koord-scheduler does not allocate.
func (v *view) unmanaged(name schedulingv1alpha1.DeviceType, out *diagnosticsv1alpha1.DeviceTypeOverview) {
	out.State, out.Reason = diagnosticsv1alpha1.DeviceUnmanaged, "koord-scheduler does not allocate devices of this type"
	for i := range v.Object.Spec.Devices {
		info := &v.Object.Spec.Devices[i]
		if info.Type != name {
			continue
		}
		out.Devices++
		if info.Health {
			out.Healthy++
		}
		minor := diagnosticsv1alpha1.DeviceMinor{Minor: minorOf(info), ID: info.UUID, Healthy: info.Health}
		v.place(&minor, info)
		out.Minors = append(out.Minors, minor)
	}
}
