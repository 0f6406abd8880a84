package network

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/host/network"
	"koordinator.sh/koord/agent/host/network/networktest"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// pod has an address and runs.
func pod(name, class, address string) *state.Pod {
	return state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name), Labels: map[string]string{extension.LabelPodQoS: class}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIPs: []corev1.PodIP{{IP: address}}},
	})
}

func snapshot() qos.NodeSnapshot {
	tree := kernelfs.New(cgroup.V2, cpuset.Of(0, 1))
	layout := cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs}
	return qos.NodeSnapshot{
		Now: noon, Tree: tree, Layout: layout, Containers: qos.NewContainers(tree, layout),
		Pods: []*state.Pod{pod("web", "LS", "10.1.0.1"), pod("batch", "BE", "10.1.0.2")},
		SLO: &slov1alpha1.NodeSLOSpec{
			SystemStrategy: &slov1alpha1.SystemStrategy{TotalNetworkBandwidth: new(resource.MustParse("1G"))},
			ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{BEClass: &slov1alpha1.ResourceQOS{NetworkQOS: &slov1alpha1.NetworkQOSCfg{
				Enable: new(true), NetworkQOS: slov1alpha1.NetworkQOS{EgressLimit: new(intstr.FromInt32(10))},
			}}},
		},
	}
}

func reconcilerOf(t *testing.T, control network.Control, directory string, log *audit.Log) *Reconciler {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(directory, "sys/kernel/random"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "sys/kernel/random/boot_id"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := files.NewReal(directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	reconciler, err := New(Options{Control: control, Proc: tree, Sys: tree, Device: checkpoint.File{Path: filepath.Join(directory, "network.json")}, Audit: log, Clock: clocktesting.NewFakePassiveClock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	return reconciler
}

// TestADeviceIsKept goes through the life of a node, with a crash, on the kernel that runs the test.
func TestADeviceIsKept(t *testing.T) {
	networktest.Run(t, nil, func(t *testing.T, control *netlink.Handle) {
		directory, log, in := t.TempDir(), audit.NewLog(100), snapshot()
		link, err := network.Uplink(control)
		if err != nil {
			t.Fatal(err)
		}
		before, err := network.DisciplineOf(control, link)
		if err != nil {
			t.Fatal(err)
		}
		reconciler := reconcilerOf(t, control, directory, log)
		if err := reconciler.Reconcile(t.Context(), in); errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EOPNOTSUPP) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		want := map[netip.Addr]networkqos.Minor{netip.MustParseAddr("10.1.0.1"): networkqos.LS, netip.MustParseAddr("10.1.0.2"): networkqos.BE}
		if diff := cmp.Diff(want, reconciler.State().Addresses, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("addresses (-want +got):\n%s", diff)
		}
		entries := len(log.After(0, 100))
		if entries != 7 {
			t.Errorf("%d entries in the audit log, want a discipline, four classes and two filters", entries)
		}

		reconciler = reconcilerOf(t, control, directory, log) // after a crash
		in.Now = in.Now.Add(reconcileInterval)
		in.Pods = in.Pods[:1]
		if err := reconciler.Reconcile(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if again := log.After(uint64(entries), 100); len(again) != 1 || again[0].Old != "10004" {
			t.Errorf("after one pod went: %+v", again)
		}

		in.Now, in.SLO = in.Now.Add(reconcileInterval), &slov1alpha1.NodeSLOSpec{}
		if err := reconciler.Reconcile(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if after, err := network.DisciplineOf(control, link); err != nil || after != before || reconciler.State().Unavailable == "" {
			t.Errorf("switched off, it sends by %v (%v), was %v; state %+v", after, err, before, reconciler.State())
		}
	})
}

func TestAnEarlierAgentsDeviceIsGivenBack(t *testing.T) {
	networktest.Run(t, nil, func(t *testing.T, control *netlink.Handle) {
		directory, log := t.TempDir(), audit.NewLog(100)
		if err := reconcilerOf(t, control, directory, log).Reconcile(t.Context(), snapshot()); err != nil {
			t.Skip(err)
		}
		entries := len(log.After(0, 100))
		if err := reconcilerOf(t, control, directory, log).Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if given := log.After(uint64(entries), 100); len(given) == 0 || !given[0].Time.Equal(noon) {
			t.Errorf("audited %+v, want what was given back, at noon", given)
		}
		link, err := network.Uplink(control)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := network.DisciplineOf(control, link); err != nil || found.Kind == "htb" {
			t.Errorf("discipline %v, %v", found, err)
		}
	})
}

// TestAFailureIsNotTakenForAKernelWithoutFilters: the filter by cgroup is tried again where nothing else could be set either.
func TestAFailureIsNotTakenForAKernelWithoutFilters(t *testing.T) {
	networktest.Run(t, nil, func(t *testing.T, control *netlink.Handle) {
		reconciler, in := reconcilerOf(t, mortalControl{control, &life{}}, t.TempDir(), audit.NewLog(100)), snapshot()
		tree := kernelfs.New(cgroup.V1, cpuset.Of(0))
		in.Tree, in.Layout = hasNetworkClasses{tree}, cgroup.Layout{Version: cgroup.V1, Driver: cgroup.Cgroupfs}
		if err := reconciler.Reconcile(t.Context(), in); !errors.Is(err, errKilled) {
			t.Fatalf("%v, want that nothing can be set", err)
		}
		if reconciler.withoutCgroups {
			t.Error("filters by cgroup are given up for a failure that was not theirs")
		}
	})
}

// refusing is a kernel that makes no discipline.
type refusing struct {
	network.Control
	answer error
}

// QdiscAdd implements network.Control.
func (r *refusing) QdiscAdd(discipline netlink.Qdisc) error {
	if r.answer != nil {
		return r.answer
	}
	return r.Control.QdiscAdd(discipline)
}

// TestAMachineThatCannotQueueIsTold, also while nothing is wanted of it, until it can.
func TestAMachineThatCannotQueueIsTold(t *testing.T) {
	tests := map[syscall.Errno]string{
		syscall.EPERM: "NET_ADMIN", syscall.ENOENT: "no token buckets", syscall.EOPNOTSUPP: "no token buckets", syscall.ENOBUFS: "",
	}
	for answer, want := range tests {
		t.Run(answer.Error(), func(t *testing.T) {
			networktest.Run(t, nil, func(t *testing.T, control *netlink.Handle) {
				kernel, in := &refusing{control, answer}, snapshot()
				reconciler := reconcilerOf(t, kernel, t.TempDir(), audit.NewLog(100))
				if err := reconciler.Reconcile(t.Context(), in); !errors.Is(err, answer) {
					t.Fatalf("%v, want %v", err, answer)
				}
				told := func(when string) {
					t.Helper()
					state := reconciler.State()
					if !strings.Contains(state.Unsupported, want) || (want == "") != (state.Unsupported == "") {
						t.Errorf("%s: unsupported %q, want %q", when, state.Unsupported, want)
					}
				}
				told("at first")
				if state := reconciler.State(); (state.Device == "") != (want != "") {
					t.Errorf("device %q, unavailable %q", state.Device, state.Unavailable)
				}
				wanted := in.SLO
				in.Now, in.SLO = in.Now.Add(reconcileInterval), &slov1alpha1.NodeSLOSpec{}
				if err := reconciler.Reconcile(t.Context(), in); err != nil {
					t.Fatal(err)
				}
				told("while nothing is wanted")
				kernel.answer, in.Now, in.SLO = nil, in.Now.Add(reconcileInterval), wanted
				err := reconciler.Reconcile(t.Context(), in)
				if unable := new(network.UnableError); errors.As(err, &unable) {
					t.Skip(err) // this kernel cannot, either
				}
				if err != nil {
					t.Fatal(err)
				}
				if state := reconciler.State(); state.Unsupported != "" || state.Device == "" {
					t.Errorf("it can, and the state is %+v", state)
				}
			})
		})
	}
}

// hasNetworkClasses is a tree with the hierarchy net_cls.
type hasNetworkClasses struct{ files.FS }

func (h hasNetworkClasses) Exists(path string) bool { return path == "net_cls" || h.FS.Exists(path) }

func TestSomebodyElsesDisciplineStays(t *testing.T) {
	networktest.Run(t, nil, func(t *testing.T, control *netlink.Handle) {
		link, err := network.Uplink(control)
		if err != nil {
			t.Fatal(err)
		}
		theirs := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: network.Handle, Parent: netlink.HANDLE_ROOT})
		if err := control.QdiscAdd(theirs); err != nil {
			t.Skip(err)
		}
		reconciler := reconcilerOf(t, control, t.TempDir(), audit.NewLog(100))
		if err := reconciler.Reconcile(t.Context(), snapshot()); err == nil || !strings.Contains(err.Error(), "did not create") {
			t.Errorf("%v does not say that koordlet did not create the discipline", err)
		}
		if err := reconciler.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if found, err := network.DisciplineOf(control, link); err != nil || found.Kind != "htb" {
			t.Errorf("it was removed: %v, %v", found, err)
		}
	})
}
