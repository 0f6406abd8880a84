package tui

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/source"
)

// Parts of random rows. Few values each, so that ties are frequent.
var (
	anyName   = rapid.SampledFrom([]string{"", "a", "b", "web-10", "web-9", "Z", "世界"})
	anyAmount = rapid.SampledFrom([]int64{-1, 0, 1, 999, 1000, 5 << 30, quota.Unlimited})
	anyMoment = rapid.Custom(func(t *rapid.T) *metav1.Time {
		if rapid.Bool().Draw(t, "unknown") {
			return nil
		}
		return new(metav1.NewTime(builtAt.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "minutes")) * time.Minute)))
	})
	anyPointer = rapid.Custom(func(t *rapid.T) *int64 {
		if rapid.Bool().Draw(t, "unknown") {
			return nil
		}
		return new(anyAmount.Draw(t, "amount"))
	})
)

func anyGang(t *rapid.T) gangRow {
	g := source.Gang{Key: gang.Key{Namespace: "ml", Name: anyName.Draw(t, "name")}, Members: make([]source.GangMember, rapid.IntRange(0, 3).Draw(t, "members"))}
	if rapid.Bool().Draw(t, "rules") {
		g.Spec = &gang.Spec{MinMember: rapid.Int32Range(0, 4).Draw(t, "minimum")}
	}
	if at := anyMoment.Draw(t, "start"); at != nil {
		g.Status.ScheduleStartTime = *at
	}
	g.Status.Scheduled, g.Status.Running = rapid.Int32Range(0, 3).Draw(t, "scheduled"), rapid.Int32Range(0, 3).Draw(t, "running")
	return gangRows(&source.Gangs{Items: []source.Gang{g}})[0]
}

func anyDevices(t *rapid.T) deviceRow {
	of := &diagnostics.DeviceTypeOverview{
		Model: anyName.Draw(t, "model"), State: rapid.SampledFrom([]diagnostics.DeviceState{diagnostics.DeviceStray, diagnostics.DeviceUsed, "?"}).Draw(t, "state"),
		FreePercent: anyPointer.Draw(t, "free"), LargestPercent: anyPointer.Draw(t, "percent"),
		Devices: 3, Healthy: rapid.Int32Range(0, 3).Draw(t, "healthy"), Holders: rapid.Int32Range(0, 3).Draw(t, "holders"),
	}
	if rapid.Bool().Draw(t, "known") {
		of.IdleDevices, of.LargestDevices = new(rapid.Int32Range(0, 3).Draw(t, "idle")), new(rapid.Int32Range(0, 3).Draw(t, "largest"))
	}
	return deviceRow{of, anyName.Draw(t, "node")}
}

func anyQuota(t *rapid.T) quotaRow {
	q := source.Quota{Spec: quota.Spec{Namespace: anyName.Draw(t, "namespace"), Name: anyName.Draw(t, "name"), TreeID: anyName.Draw(t, "tree")}, Depth: rapid.IntRange(0, 3).Draw(t, "depth")}
	for _, amounts := range []*quota.Amounts{&q.Min, &q.Max, &q.Used, &q.Runtime, &q.Request} {
		if v := anyPointer.Draw(t, "amount"); v != nil {
			*amounts = quota.Amounts{{Resource: corev1.ResourceCPU, Value: *v}}
		}
	}
	row := quotaRows([]source.Quota{q}, corev1.ResourceCPU)[0]
	row.at = rapid.IntRange(0, 5).Draw(t, "place")
	return row
}

func anyReservation(t *rapid.T) reservationRow {
	r := schedulingv1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Name: anyName.Draw(t, "name")}}
	r.Status.NodeName, r.Status.Phase = anyName.Draw(t, "node"), rapid.SampledFrom([]schedulingv1alpha1.ReservationPhase{"", "Pending", "Available", "Failed", "Succeeded"}).Draw(t, "phase")
	r.Spec.Expires = anyMoment.Draw(t, "expires")
	for _, list := range []*corev1.ResourceList{&r.Status.Allocatable, &r.Status.Allocated} {
		if rapid.Bool().Draw(t, "reserved") {
			*list = corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(max(anyAmount.Draw(t, "cpu"), 0), resource.DecimalSI)}
		}
	}
	return reservationRows([]schedulingv1alpha1.Reservation{r})[0]
}

func anyMigration(t *rapid.T) migrationRow {
	e := diagnostics.MigrationExplanation{Pod: diagnostics.MigratedPod{Namespace: anyName.Draw(t, "namespace"), Name: anyName.Draw(t, "pod"), NodeName: anyName.Draw(t, "from")},
		TargetNode: anyName.Draw(t, "to"), Phase: rapid.SampledFrom([]string{"", "Running", "Succeeded", "Failed", "Aborted"}).Draw(t, "phase"), Paused: rapid.Bool().Draw(t, "paused")}
	e.Name, e.Reason = anyName.Draw(t, "name"), anyName.Draw(t, "reason")
	for range rapid.IntRange(0, 3).Draw(t, "gates") {
		e.Gates = append(e.Gates, diagnostics.MigrationGate{Name: anyName.Draw(t, "gate"), Since: anyMoment.Draw(t, "since"), Reason: anyName.Draw(t, "gate reason"),
			State: rapid.SampledFrom([]diagnostics.MigrationGateState{diagnostics.MigrationGatePassed, diagnostics.MigrationGateWaiting, diagnostics.MigrationGateClosed, diagnostics.MigrationGateNotReached}).Draw(t, "state")})
	}
	if at := anyMoment.Draw(t, "created"); at != nil {
		e.CreatedAt, e.Deadline = *at, metav1.NewTime(at.Add(5*time.Minute))
	}
	return migrationRows(&source.Migrations{Items: []diagnostics.MigrationExplanation{e}})[0]
}

func anyMove(t *rapid.T) moveRow {
	return moveRow{ForecastMove: &diagnostics.ForecastMove{Round: rapid.Int32Range(1, 3).Draw(t, "round"), Seconds: rapid.Int64Range(0, 4000).Draw(t, "seconds"),
		Namespace: anyName.Draw(t, "namespace"), Name: anyName.Draw(t, "name"), From: anyName.Draw(t, "from"), To: anyName.Draw(t, "to"), Reason: anyName.Draw(t, "reason"), Plugin: anyName.Draw(t, "plugin")}}
}

func anyWorkload(t *rapid.T) workloadRow {
	w := &diagnostics.WorkloadOverview{Pods: rapid.Int32Range(0, 1000).Draw(t, "pods"), Waiting: rapid.Int32Range(0, 3).Draw(t, "waiting"), ObservedAt: anyMoment.Draw(t, "observed")}
	w.Namespace, w.Name = anyName.Draw(t, "namespace"), anyName.Draw(t, "name")
	for _, r := range []*diagnostics.WorkloadResource{&w.CPU, &w.Memory} {
		r.Requested, r.Batch = max(anyAmount.Draw(t, "requested"), 0), max(anyAmount.Draw(t, "batch"), 0)
		r.Used, r.Idle, r.Recommended = anyPointer.Draw(t, "used"), anyPointer.Draw(t, "idle"), anyPointer.Draw(t, "recommended")
	}
	return workloadRow{w}
}

func anyWorkers(t *rapid.T) workersRow {
	e := &diagnostics.WorkersExplanation{
		Target: anyName.Draw(t, "target"), LimitedBy: anyName.Draw(t, "limit"), Message: anyName.Draw(t, "message"), DecidedAt: anyMoment.Draw(t, "decided"),
		State:   rapid.SampledFrom([]string{"Sized", "Stale", "Suspended", "TargetShared", "Unprocessed", "?"}).Draw(t, "state"),
		Current: rapid.Int32Range(0, 10000).Draw(t, "current"), Desired: rapid.Int32Range(0, 3).Draw(t, "desired"), Max: rapid.Int32Range(1, 10000).Draw(t, "most"),
		Draining: make([]diagnostics.DrainingWorker, rapid.IntRange(0, 3).Draw(t, "draining")),
	}
	e.Namespace, e.Name = anyName.Draw(t, "namespace"), anyName.Draw(t, "name")
	if rapid.Bool().Draw(t, "sized") {
		e.Waterfall = &diagnostics.Waterfall{}
	}
	return workersRow{e}
}

func anyDrained(t *rapid.T) drainRow {
	place := rapid.SampledFrom([]diagnostics.DrainPlace{"", diagnostics.DrainPlaceFound, diagnostics.DrainPlaceNone, diagnostics.DrainPlaceLost, diagnostics.DrainPlaceDone, diagnostics.DrainPlaceUnknown})
	p := diagnostics.DrainedPod{
		Namespace: anyName.Draw(t, "namespace"), Name: anyName.Draw(t, "name"), Node: anyName.Draw(t, "from"), To: anyName.Draw(t, "to"), Owner: anyName.Draw(t, "owner"),
		Place: place.Draw(t, "place"), Summary: anyName.Draw(t, "summary"), Blocked: anyName.Draw(t, "blocked"), Reason: anyName.Draw(t, "reason"), Budget: anyName.Draw(t, "budget"),
		Action: rapid.SampledFrom([]diagnostics.DrainAction{diagnostics.DrainEvict, diagnostics.DrainSkip}).Draw(t, "action"), Round: rapid.Int32Range(0, 3).Draw(t, "round"),
	}
	return drainRow{&p, rapid.IntRange(0, 3).Draw(t, "at")}
}

func anyPod(t *rapid.T) podRow {
	b := makePod(anyName.Draw(t, "namespace"), anyName.Draw(t, "name")).on(anyName.Draw(t, "node")).class(anyName.Draw(t, "qos"), anyName.Draw(t, "band"))
	b.phase(rapid.SampledFrom([]corev1.PodPhase{"", corev1.PodPending, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded}).Draw(t, "phase"))
	b.requests(max(anyAmount.Draw(t, "cpu"), 0), max(anyAmount.Draw(t, "memory"), 0))
	b.CPU.Used, b.Memory.Used = anyPointer.Draw(t, "cpu used"), anyPointer.Draw(t, "memory used")
	b.Reason = anyName.Draw(t, "reason")
	return b.row()
}

func anyNode(t *rapid.T) nodeRow {
	b := makeNode(anyName.Draw(t, "name"))
	b.Ready, b.Unschedulable = rapid.Bool().Draw(t, "ready"), rapid.Bool().Draw(t, "cordoned")
	b.Metric.UpdateTime = anyMoment.Draw(t, "updated")
	b.CPU.Used, b.CPU.ProdUsed, b.CPU.ProdRequested, b.CPU.BatchAllocatable = anyPointer.Draw(t, "used"), anyPointer.Draw(t, "prod"), anyPointer.Draw(t, "requested"), anyPointer.Draw(t, "batch")
	b.Memory.Used, b.Memory.ProdUsed = anyPointer.Draw(t, "memory used"), anyPointer.Draw(t, "memory prod")
	return b.row()
}
