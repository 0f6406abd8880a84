package koordlet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// enforcing is the condition that the NodeMetric has; the zero value when it has none.
func (r *rig) enforcing() metav1.Condition {
	r.Helper()
	var metric slov1alpha1.NodeMetric
	if _, err := r.server.Read("nodemetrics", nodeName, &metric); err != nil {
		r.Fatal(err)
	}
	if found := meta.FindStatusCondition(metric.Status.Conditions, slov1alpha1.NodeMetricEnforcing); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// wantStanding compares what the NodeMetric, readiness and metrics tell with what they should.
func (r *rig) wantStanding(reason string) {
	r.Helper()
	status, ready := metav1.ConditionFalse, false
	if reason == slov1alpha1.ReasonEnforcing {
		status, ready = metav1.ConditionTrue, true
	}
	if got := r.enforcing(); got.Reason != reason || got.Status != status {
		r.Errorf("condition %s %s: %s, want %s %s", got.Status, got.Reason, got.Message, status, reason)
	}
	if err := r.standing.ready(); (err == nil) != ready && reason != slov1alpha1.ReasonReadOnly || !ready && err != nil && !strings.HasPrefix(err.Error(), reason+": ") {
		r.Errorf("readiness says %v, want %s", err, reason)
	}
	figures := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing).nodeMetrics()
	if figures.Enforcing == nil || *figures.Enforcing != ready || figures.EnforcingReason != reason {
		r.Errorf("figures are %v, %q, want %t, %s", figures.Enforcing, figures.EnforcingReason, ready, reason)
	}
}

// enforce runs what an agent runs of it.
func (r *rig) enforce() {
	r.machine.use("batch", 4)
	r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
	r.group.Go(func() { r.standing.run(r.ctx) })
	r.group.Go(func() { newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing).run(r.ctx) })
}

func TestDamagedOriginalsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) {
			if err := os.WriteFile(o.originalsFile(), []byte(`{"checksum":1,"data":[]}`), 0o600); err != nil {
				t.Fatal(err)
			}
		})
		defer r.stop()
		r.enforce()
		r.after(3 * time.Second)
		r.wantStanding(slov1alpha1.ReasonOriginalsUnreadable)
		since := r.enforcing().LastTransitionTime
		r.after(2 * time.Minute) // with whole reports between
		r.wantStanding(slov1alpha1.ReasonOriginalsUnreadable)
		if got := r.enforcing().LastTransitionTime; !got.Equal(&since) {
			t.Errorf("changed at %s, and told as %s", since, got)
		}
		if err := os.Remove(r.options.originalsFile()); err != nil {
			t.Fatal(err)
		}
		r.after(20 * time.Second)
		r.wantQuota(900000)
		r.wantStanding(slov1alpha1.ReasonOriginalsUnreadable) // until it has lasted
		r.after(30 * time.Second)
		r.wantStanding(slov1alpha1.ReasonEnforcing)
	})
}

// mounted mounts a separate file system of 64 KiB on a directory. It needs root.
func mounted(t *testing.T, directory string) {
	t.Helper()
	if err := os.MkdirAll(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", directory, "tmpfs", 0, "size=64k"); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("mounting takes the rights of root")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(directory, 0); err != nil {
			t.Errorf("unmount %s: %v", directory, err)
		}
	})
}

// TestAFullDiskIsTold although nothing has to be kept at the moment: of the next pod nothing would be set.
func TestAFullDiskIsTold(t *testing.T) {
	state := t.TempDir()
	mounted(t, state)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.StateDirectory = state })
		defer r.stop()
		r.enforce()
		r.after(3 * time.Second)
		r.wantQuota(900000)
		r.wantStanding(slov1alpha1.ReasonEnforcing)
		fill := filepath.Join(state, "fill")
		if err := os.WriteFile(fill, make([]byte, 64<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the disk was filled with %v", err)
		}
		r.after(probeInterval + 4*time.Second)
		r.wantStanding(slov1alpha1.ReasonOriginalsNotSaved)
		if message := r.enforcing().Message; !strings.Contains(message, "no space left on device") {
			t.Errorf("message %q does not say why", message)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		r.after(40 * time.Second)
		r.wantStanding(slov1alpha1.ReasonEnforcing)
	})
}

func TestCgroupsThatCannotBeWrittenAreTold(t *testing.T) {
	cgroups := t.TempDir()
	mounted(t, cgroups)
	remount := func(flags uintptr) {
		if err := unix.Mount("none", cgroups, "", unix.MS_REMOUNT|flags, "size=64k"); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Cgroup = cgroups })
		defer r.stop()
		r.enforce()
		r.after(3 * time.Second)
		r.wantStanding(slov1alpha1.ReasonEnforcing)
		remount(unix.MS_RDONLY)
		r.after(probeInterval + 4*time.Second)
		r.wantStanding(slov1alpha1.ReasonWritesRefused)
		remount(0)
		r.after(40 * time.Second)
		r.wantStanding(slov1alpha1.ReasonEnforcing)
	})
}

// TestAFeatureThatIsRefusedIsTold when it is one that protects services, and most of what it wants.
func TestAFeatureThatIsRefusedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		quota := filepath.Join(r.options.Cgroup, "cpu/kubepods/besteffort/cpu.cfs_quota_us")
		if err := errors.Join(os.Remove(quota), os.Mkdir(quota, 0o755)); err != nil {
			t.Fatal(err)
		}
		r.enforce()
		r.after(3 * time.Second)
		r.wantStanding(slov1alpha1.ReasonEnforcing) // it may be for a moment
		r.after(8 * time.Second)
		r.wantStanding(slov1alpha1.ReasonWritesRefused)
		if err := os.Remove(quota); err != nil {
			t.Fatal(err)
		}
		r.file(quota, "-1\n")
		r.after(40 * time.Second)
		r.wantQuota(900000)
		r.wantStanding(slov1alpha1.ReasonEnforcing)
	})
}

// TestAnAgentThatIsReadOnlyIsReady and reports that it does not enforce anything.
func TestAnAgentThatIsReadOnlyIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		r.enforce()
		r.after(3 * time.Second)
		r.wantStanding(slov1alpha1.ReasonReadOnly)
		if err := r.standing.ready(); err != nil {
			t.Errorf("not ready: %v", err)
		}
	})
}

// TestAnAgentThatReadsNoObjectsIsTold checks that the condition says so although there is nothing to report, and changes soon after the
// objects are read.
func TestAnAgentThatReadsNoObjectsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newIdleRig(t, nil)
		defer r.stop()
		r.group.Go(func() { r.standing.run(r.ctx) })
		r.after(30 * time.Second)
		reports := newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing)
		metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
		r.after(4 * time.Second)
		reports.writeConditions(r.ctx, metric)
		r.wantStanding(slov1alpha1.ReasonObjectsUnread)
		r.follow()
		r.after(2 * time.Second)
		reports.writeConditions(r.ctx, metric)
		r.wantStanding(slov1alpha1.ReasonEnforcing)
	})
}
