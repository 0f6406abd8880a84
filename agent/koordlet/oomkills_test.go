package koordlet

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/diagnostics"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// oomControl writes what version 1 shows of a cgroup below that of all pods.
func (r *rig) oomControl(at, content string) {
	r.Helper()
	r.file(filepath.Join(r.options.Cgroup, "memory/kubepods", at, "memory.oom_control"), content)
}

// counted are the counts of OOM kills in the metrics, by container.
func (r *rig) counted() map[string]float64 {
	out := map[string]float64{}
	for _, sample := range newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing).featureMetrics() {
		if sample.Metric == oomKillsMetric {
			out[strings.Join(sample.Labels, "/")] = sample.Value
		}
	}
	return out
}

// TestOOMKillsAreReported also by an agent that writes nothing, which reads the counters alone.
func TestOOMKillsAreReported(t *testing.T) {
	id := strings.Repeat("a", 64)
	tests := map[string]struct {
		on          bool
		wantEvents  int
		want        map[string]float64
		wantAfter   map[string]float64
		wantFeature diagnosticsv1alpha1.AgentFeature
	}{
		"by default": {
			on: true, wantEvents: 1, want: map[string]float64{"default/batch/c": 0, "default/service/c": 2},
			wantAfter:   map[string]float64{"default/batch/c": 0, "default/service/c": 0},
			wantFeature: diagnosticsv1alpha1.AgentFeature{Gate: true, Active: "Yes", Effective: "Yes", Reason: "always measures and reports; the NodeSLO has no setting for it"},
		},
		"the gate is off": {
			want: map[string]float64{}, wantAfter: map[string]float64{},
			wantFeature: diagnosticsv1alpha1.AgentFeature{Active: "No", Effective: "No", Reason: "its feature gate is off"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newIdleRig(t, func(options *Options) {
					options.ReadOnly = true
					if !tc.on {
						options.FeatureGates = map[string]bool{nodefeature.OOMKillReport.Name: false}
					}
				})
				service := r.pod("service", extension.QoSLS, corev1.PodQOSBurstable)
				service.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", ContainerID: "containerd://" + id}}
				r.put("pods", service)
				for _, at := range []string{"", "burstable", "burstable/podservice", "burstable/podservice/" + id} {
					r.oomControl(at, "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n")
				}
				r.follow()
				defer r.stop()
				r.group.Go(func() { r.enforcement.observe(r.ctx, r.cluster) })
				r.after(22 * time.Second)
				r.oomControl("burstable/podservice/"+id, "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
				r.after(22 * time.Second)
				if diff := cmp.Diff(tc.want, r.counted()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", oomKillsMetric, diff)
				}
				if got := len(r.events.Events); got != tc.wantEvents {
					t.Errorf("%d events, want %d", got, tc.wantEvents)
				}
				features := explained(r)
				at := slices.IndexFunc(features, func(f diagnosticsv1alpha1.AgentFeature) bool { return f.Name == nodefeature.OOMKillReport.Name })
				tc.wantFeature.Name, tc.wantFeature.Configured, tc.wantFeature.Supported = nodefeature.OOMKillReport.Name, "Yes", "Yes"
				if diff := cmp.Diff(tc.wantFeature, features[at], cmpopts.IgnoreFields(diagnosticsv1alpha1.AgentFeature{}, "State")); diff != "" {
					t.Errorf("feature (-want +got):\n%s", diff)
				}
				if want := "processes of pods OOM-killed since koordlet started: 2"; tc.on && !strings.HasPrefix(features[at].State, want) {
					t.Errorf("state %q, want %q", features[at].State, want)
				}
				service.UID = "another"
				r.put("pods", service)
				r.after(2 * time.Second)
				if diff := cmp.Diff(tc.wantAfter, r.counted()); diff != "" {
					t.Errorf("%s after the pod was replaced (-want +got):\n%s", oomKillsMetric, diff)
				}
			})
		})
	}
}

func TestWhatTheKernelDoesNotCountIsSaid(t *testing.T) {
	tests := map[string]struct {
		control string
		want    diagnostics.FeatureStatus
	}{
		"a kernel that does not count": {"oom_kill_disable 0\n", diagnostics.FeatureStatus{
			Supported: "No", Active: "No", Effective: "No", State: "the kernel does not count OOM kills (needs Linux 4.13)",
		}},
		"a kernel that counts, and nobody watches yet": {"oom_kill 0\n", diagnostics.FeatureStatus{
			Supported: "Yes", Active: "No", Effective: "No", State: "no process of a pod was OOM-killed since koordlet started",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				defer r.stop()
				r.oomControl("", tc.control)
				e := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing)
				if diff := cmp.Diff(tc.want, e.oomKillStatus(true)); diff != "" {
					t.Errorf("status (-want +got):\n%s", diff)
				}
			})
		})
	}
}
