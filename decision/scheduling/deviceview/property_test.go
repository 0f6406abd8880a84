package deviceview

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// drawInput is a machine of which pods and Reservations hold anything, also what it does not have.
func drawInput(t *testing.T, r *rapid.T) Input {
	in := Input{Object: &schedulingv1alpha1.Device{}}
	in.Object.Name = "node"
	percent := rapid.SampledFrom([]int{1, 30, 33, 50, 70, 100})
	for i := range rapid.Int32Range(0, 5).Draw(r, "gpus") {
		memory := rapid.SampledFrom([]string{"0", "1", "64Gi", "80Gi"}).Draw(r, "memory")
		add(in.Object, schedulingv1alpha1.GPU, i, i%2, list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", memory, "koordinator.sh/gpu-memory-ratio", "100"))
	}
	for i := range rapid.Int32Range(0, 2).Draw(r, "cards") {
		add(in.Object, schedulingv1alpha1.RDMA, i, i, list("koordinator.sh/rdma", "100"))
	}
	for i := range in.Object.Spec.Devices {
		in.Object.Spec.Devices[i].Health = rapid.IntRange(0, 4).Draw(r, "health") > 0
	}
	for i := range rapid.IntRange(0, 6).Draw(r, "pods") {
		share := percent.Draw(r, "share")
		minor := rapid.Int32Range(0, 6).Draw(r, "minor")
		switch rapid.IntRange(0, 3).Draw(r, "kind") {
		case 0:
			in.Pods = append(in.Pods, nic(t, fmt.Sprint("nic-", i), share, minor))
		case 1:
			in.Reservations = append(in.Reservations, reserved(t, fmt.Sprint("night-", i), minor))
		default:
			in.Pods = append(in.Pods, holding(t, pod(fmt.Sprint("gpu-", i), fmt.Sprint(share)), share, minor))
		}
	}
	return in
}

// TestFreeAndHeldAreTheTotal of every device that is healthy and of which no more is held than there is; of the others nothing is
// free. What holders have of a device is what is held of it.
func TestFreeAndHeldAreTheTotal(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		for _, of := range Overview(drawInput(t, r)).Types {
			free, idle := int64(0), int32(0)
			for i := range of.Minors {
				checkMinor(r, of.Type, &of.Minors[i])
				if m := &of.Minors[i]; m.Healthy {
					free += *m.FreePercent
					if len(m.Holders) == 0 {
						idle++
					}
				}
			}
			if free != *of.FreePercent || idle != *of.IdleDevices {
				r.Errorf("%s: %d%% and %d devices free, the minors have %d%% and %d", of.Type, *of.FreePercent, *of.IdleDevices, free, idle)
			}
			if *of.LargestDevices > idle || *of.LargestDevices > 0 && *of.LargestPercent > 0 || *of.LargestPercent > free {
				r.Errorf("%s: the largest request is %d devices or %d%%, with %d idle and %d%% free", of.Type, *of.LargestDevices, *of.LargestPercent, idle, free)
			}
			if idle > 0 && *of.LargestDevices == 0 || idle == 0 && free > 0 && *of.LargestPercent == 0 {
				r.Errorf("%s: nothing fits with %d idle and %d%% free", of.Type, idle, free)
			}
		}
	})
}

func checkMinor(r *rapid.T, name string, m *diagnosticsv1alpha1.DeviceMinor) {
	for _, amount := range m.Resources {
		byHolders := int64(0)
		for _, holder := range m.Holders {
			for _, part := range holder.Resources {
				if part.Resource == amount.Resource {
					byHolders += part.Amount
				}
			}
		}
		wantFree := max(amount.Total-amount.Held, 0)
		if !m.Healthy {
			wantFree = 0
		}
		if *amount.Free != wantFree || byHolders != amount.Held {
			r.Errorf("%s %d: %s total %d, held %d (by holders %d), free %d, want %d", name, m.Minor, amount.Resource, amount.Total, amount.Held, byHolders, *amount.Free, wantFree)
		}
	}
	if *m.FreePercent < 0 || *m.FreePercent > 100 || !m.Healthy && *m.FreePercent > 0 {
		r.Errorf("%s %d: %d%% free", name, m.Minor, *m.FreePercent)
	}
}

// TestWhatIsNotSeenIsNotCountedAsFree: without pods nothing is said of what is free, and the rest is the same.
func TestWhatIsNotSeenIsNotCountedAsFree(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := drawInput(t, r)
		in.Unseen = true
		for _, of := range Overview(in).Types {
			if of.FreePercent != nil || of.IdleDevices != nil || of.LargestDevices != nil || of.LargestPercent != nil {
				r.Errorf("%s: something is free: %+v", of.Type, of)
			}
			for _, m := range of.Minors {
				if m.FreePercent != nil {
					r.Errorf("%s %d: %d%% is free", of.Type, m.Minor, *m.FreePercent)
				}
				for _, amount := range m.Resources {
					if amount.Free != nil {
						r.Errorf("%s %d: %d of %s is free", of.Type, m.Minor, *amount.Free, amount.Resource)
					}
				}
			}
		}
	})
}
