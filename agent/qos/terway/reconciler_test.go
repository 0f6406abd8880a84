package terway

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var passive = clocktesting.NewFakePassiveClock(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))

func snapshot() qos.NodeSnapshot {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "batch", Namespace: "ns", UID: "u", Labels: map[string]string{extension.LabelPodQoS: "BE"}, Annotations: map[string]string{
			extension.AnnotationNetworkQOS: `{"ingressLimit":"80M","egressLimit":"8M"}`,
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBestEffort},
	}
	return qos.NodeSnapshot{
		Now: passive.Now(), Layout: cgroup.Layout{Version: cgroup.V1, Driver: cgroup.Cgroupfs}, Pods: []*state.Pod{state.PodOf(pod)},
		SLO: &slov1alpha1.NodeSLOSpec{
			SystemStrategy: &slov1alpha1.SystemStrategy{TotalNetworkBandwidth: new(resource.MustParse("1G"))},
			ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{
				Policies: &slov1alpha1.ResourceQOSPolicies{NETQOSPolicy: new(slov1alpha1.NETQOSPolicyTerwayQos)},
				BEClass: &slov1alpha1.ResourceQOS{NetworkQOS: &slov1alpha1.NetworkQOSCfg{
					Enable: new(true), NetworkQOS: slov1alpha1.NetworkQOS{EgressLimit: new(intstr.FromInt32(10)), IngressRequest: new(intstr.FromString("16M"))},
				}},
			},
		},
	}
}

// contents of the two files; "" for one that is not there.
func contents(t *testing.T, directory string) (node, pods string) {
	t.Helper()
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(content)
	}
	return read(nodeFile), read(podFile)
}

func TestTerwayIsTold(t *testing.T) {
	state, directory := t.TempDir(), filepath.Join(t.TempDir(), "terway", "qos")
	log := audit.NewLog(10)
	open := func() *Reconciler {
		r, err := New(Options{Directory: directory, CgroupRoot: "/sys/fs/cgroup", Originals: checkpoint.File{Path: filepath.Join(state, "terway.json")}, Audit: log, Clock: passive})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	reconciler := open()
	if reconciler.InSync() {
		t.Error("Terway counts as told before anything was written")
	}
	for range 2 {
		if err := reconciler.Reconcile(t.Context(), snapshot()); err != nil || !reconciler.InSync() {
			t.Fatalf("told %t, %v", reconciler.InSync(), err)
		}
	}
	wantNode := "hw_tx_bps_max 125000000\nhw_rx_bps_max 125000000\n" +
		"offline_l1_tx_bps_min 0\noffline_l1_tx_bps_max 0\noffline_l1_rx_bps_min 0\noffline_l1_rx_bps_max 0\n" +
		"offline_l2_tx_bps_min 0\noffline_l2_tx_bps_max 12500000\noffline_l2_rx_bps_min 2000000\noffline_l2_rx_bps_max 125000000\n"
	wantPods := `{"u":{"podName":"batch","podNamespace":"ns","podUID":"u","prio":2,"cgroupDir":"/sys/fs/cgroup/net_cls/kubepods/besteffort/podu",` +
		`"qosConfig":{"ingressBandwidth":10000000,"egressBandwidth":1000000}}}`
	node, pods := contents(t, directory)
	if diff := cmp.Diff([]string{wantNode, wantPods}, []string{node, pods}); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if entries := log.After(0, 10); len(entries) != 2 {
		t.Errorf("%d writes, want one of each file", len(entries))
	}
	if info, err := os.Stat(directory); err != nil || info.Mode().Perm() != directoryMode {
		t.Errorf("directory %v, %v", info, err)
	}
	restarted := open()
	if err := restarted.Restore(t.Context()); err != nil || restarted.InSync() { // after a crash, and switched off
		t.Fatalf("told %t, %v", restarted.InSync(), err)
	}
	if node, pods := contents(t, directory); node != "" || pods != "" {
		t.Errorf("something is left: %q %q", node, pods)
	}
	for _, entry := range log.After(0, 10) {
		if !entry.Time.Equal(passive.Now()) {
			t.Errorf("audited at %v: %+v", entry.Time, entry)
		}
	}
}

func TestWhatWasThereComesBack(t *testing.T) {
	state, directory := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, podFile), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	reconciler, err := New(Options{Directory: directory, Originals: checkpoint.File{Path: filepath.Join(state, "terway.json")}, Audit: audit.NewLog(10), Clock: passive})
	if err != nil {
		t.Fatal(err)
	}
	in := snapshot()
	if err := reconciler.Reconcile(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.SLO = &slov1alpha1.NodeSLOSpec{}
	if err := reconciler.Reconcile(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if node, pods := contents(t, directory); node != "" || pods != "{}" {
		t.Errorf("%q %q, want only {} for pods", node, pods)
	}
}
