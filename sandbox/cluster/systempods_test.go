package cluster

import (
	"net/netip"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

func TestWhenTheSystemRunsInPods(t *testing.T) {
	since := time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC)
	pod := func(name string, status corev1.PodStatus) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{componentLabel: name}}, Status: status}
	}
	container := func(ready bool, state corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Ready: ready, State: state}}}
	}
	running := func(after time.Duration) corev1.ContainerState {
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since.Add(after))}}
	}
	ready := container(true, running(time.Second))
	leaving := pod("koordlet", ready)
	leaving.DeletionTimestamp = new(metav1.NewTime(since))
	tests := map[string]struct {
		koordlet []corev1.Pod
		want     string
	}{
		"all are ready":       {koordlet: []corev1.Pod{pod("koordlet", ready)}},
		"one of two is ready": {koordlet: []corev1.Pod{pod("koordlet", corev1.PodStatus{}), pod("koordlet", ready)}},
		"there is none":       {want: "koordlet has no pod"},
		"the only one leaves": {koordlet: []corev1.Pod{leaving}, want: "koordlet has no pod"},
		"no node takes it": {
			koordlet: []corev1.Pod{pod("koordlet", corev1.PodStatus{Conditions: []corev1.PodCondition{{Message: "0/1 nodes"}}})},
			want:     "koordlet has not started: 0/1 nodes",
		},
		"its image is not there": {
			koordlet: []corev1.Pod{pod("koordlet", container(false, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImageNeverPull"}}))},
			want:     "koordlet is waiting: ErrImageNeverPull",
		},
		"it ran in an earlier run": {
			koordlet: []corev1.Pod{pod("koordlet", container(true, running(-time.Minute)))}, want: "koordlet has not restarted",
		},
		"it is not ready": {koordlet: []corev1.Pod{pod("koordlet", container(false, running(time.Second)))}, want: "koordlet is not ready"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods := append([]corev1.Pod{pod("koord-manager", ready), pod("koord-scheduler", ready), pod("koord-descheduler", ready)}, tc.koordlet...)
			if got := missingPods(pods, since); got != tc.want {
				t.Errorf("missingPods() = %q; want %q", got, tc.want)
			}
		})
	}
}

// TestTheChartTakesTheValuesOfEverySandbox: a wrong key would be found only when a sandbox starts.
func TestTheChartTakesTheValuesOfEverySandbox(t *testing.T) {
	ports := state.Ports{
		APIServer: 1, Scheduler: 2, SchedulerDiagnostics: 3, ManagerMetrics: 4, ManagerHealth: 5, ManagerDiagnostics: 6, ManagerWebhooks: 7, Descheduler: 8,
	}
	for name, inPods := range map[string]bool{"processes": false, "pods": true} {
		t.Run(name, func(t *testing.T) {
			values := values(state.Spec{Name: "demo", Nodes: 3}, ports, inPods)
			if inPods {
				node := realnode.Of(state.Open(t.TempDir(), "demo"), state.Spec{Name: "demo", RealNode: "box"})
				node.Subnet = netip.MustParsePrefix("10.231.7.0/24")
				runInPods(values, ports, node)
			}
			if _, err := release.Render(t.Context(), release.Options{Values: values}); err != nil {
				t.Error(err)
			}
		})
	}
}
