package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/scenario"
)

func TestTheWaitForAPodIsBounded(t *testing.T) {
	wave := scenario.Wave{AwaitBound: "app=cache", Namespace: "shop"}
	pod := func(name, node, message string) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
		if message != "" {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message}}
		}
		return p
	}
	bound, refused, silent := pod("a", "n1", ""), pod("b", "", "0/3 nodes are available"), pod("c", "", "")
	refusedIs := control.PendingPod{Namespace: "shop", Name: "b", Message: "0/3 nodes are available"}
	silentIs := control.PendingPod{Namespace: "shop", Name: "c", Message: "the scheduler has not processed it yet"}
	tests := map[string]struct {
		pods        []corev1.Pod
		waited      time.Duration
		wantOver    bool
		wantPending []control.PendingPod
	}{
		"one has a node":                        {pods: []corev1.Pod{refused, bound}, wantOver: true},
		"a refusal may be of an earlier run":    {pods: []corev1.Pod{refused}, waited: refusalTimeout - 1, wantPending: []control.PendingPod{refusedIs}},
		"a refusal that stands":                 {pods: []corev1.Pod{refused}, waited: refusalTimeout, wantOver: true, wantPending: []control.PendingPod{refusedIs}},
		"one is not tried yet":                  {pods: []corev1.Pod{refused, silent}, waited: refusalTimeout, wantPending: []control.PendingPod{refusedIs, silentIs}},
		"the scheduler says nothing for long":   {pods: []corev1.Pod{silent}, waited: bindingTimeout, wantOver: true, wantPending: []control.PendingPod{silentIs}},
		"some nodes: one of two has a node":     {pods: []corev1.Pod{bound}},
		"some nodes: both have one":             {pods: []corev1.Pod{bound, bound}, wantOver: true},
		"some nodes: one is refused":            {pods: []corev1.Pod{bound, refused}, waited: refusalTimeout, wantOver: true, wantPending: []control.PendingPod{refusedIs}},
		"some nodes: one is not tried yet":      {pods: []corev1.Pod{bound, silent}, waited: bindingTimeout, wantPending: []control.PendingPod{silentIs}},
		"some nodes: one is not tried for long": {pods: []corev1.Pod{bound, silent}, waited: crowdingTimeout, wantOver: true, wantPending: []control.PendingPod{silentIs}},
		"no pod yet":                            {waited: bindingTimeout - 1},
		"no pod is made, as a quota forbids it": {waited: bindingTimeout, wantOver: true, wantPending: []control.PendingPod{{Namespace: "shop", Message: "no pod with label app=cache was created"}}},
	}
	const someNodes = "some nodes: "
	crowded := wave
	crowded.OnlyOn = []string{"n1"}
	crowded.Objects = []runtime.Object{&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wave := wave
			if strings.HasPrefix(name, someNodes) {
				wave = crowded
			}
			over, pending := judge(wave, tc.pods, tc.waited)
			if over != tc.wantOver {
				t.Errorf("over = %t, want %t", over, tc.wantOver)
			}
			if diff := cmp.Diff(tc.wantPending, pending); diff != "" {
				t.Errorf("pending pods differ (-want +got):\n%s", diff)
			}
		})
	}
}
