package evictors

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/descheduling/evictability"
)

// inputOf is a pod of a ReplicaSet on a quiet node where all evictors run, changed as the options say.
func inputOf(options ...func(in *Input)) Input {
	in := Input{
		Pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{}, OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", Controller: new(true)}}},
			Spec:       corev1.PodSpec{NodeName: "node-0", Priority: new(int32(9000))},
		},
		Node:        &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}},
		Agent:       Agent{Installed: true, Features: []Feature{{Name: "MemoryEvict", On: true, Trigger: "memory usage >= 70%"}, {Name: "CPUEvict"}}},
		Quota:       Quota{Name: "team", Revokes: true, Preemptible: true},
		Descheduler: Descheduler{Installed: true, Evictability: evictability.Verdict{Allowed: true}},
	}
	for _, option := range options {
		option(&in)
	}
	return in
}

// line of an evictor: its name and state, and how often something is needed or protects.
func lines(evictors []Evictor) []string {
	var out []string
	for _, e := range evictors {
		out = append(out, e.Name+" "+string(e.State))
	}
	return out
}

func TestOrderOfEvictors(t *testing.T) {
	for name, test := range map[string]struct {
		in   Input
		want []string
		// wantText is in what protects or is needed.
		wantText string
	}{
		"everything is quiet": {
			in:       inputOf(),
			want:     []string{"kubelet possible", "preemption possible", "agent possible", "quota possible", "descheduler possible", "drain possible"},
			wantText: "memory usage >= 70% (MemoryEvict)",
		},
		"the agent is short of memory": {
			in:   inputOf(func(in *Input) { in.Agent.Features[0].Short = true }),
			want: []string{"agent now", "kubelet possible", "preemption possible", "quota possible", "descheduler possible", "drain possible"},
		},
		"a budget allows no disruption": {
			in: inputOf(func(in *Input) {
				in.Agent.Features[0].Short, in.Disruption = true, "PodDisruptionBudget web allows no disruption now"
			}),
			want:     []string{"kubelet possible", "preemption possible", "agent protected", "quota protected", "descheduler protected", "drain protected"},
			wantText: "allows no disruption now",
		},
		"pressure and a pod that preempts are held back by no budget": {
			in: inputOf(func(in *Input) {
				in.Disruption = "PodDisruptionBudget web allows no disruption now"
				in.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}}
				in.Preemption.Pending = []Preemptor{{Name: "same", Priority: 9000}, {Name: "higher", Priority: 9001}}
			}),
			want: []string{"kubelet now", "preemption now", "agent protected", "quota protected", "descheduler protected", "drain protected"},
		},
		"a static pod": {
			in:       inputOf(func(in *Input) { in.Pod.Annotations[corev1.MirrorPodAnnotationKey] = "x" }),
			want:     []string{"agent possible", "quota possible", "descheduler possible", "kubelet protected", "preemption protected", "drain protected"},
			wantText: "kubectl drain skips it: it is the mirror of a static pod",
		},
		"a critical pod": {
			in:       inputOf(func(in *Input) { in.Pod.Spec.Priority = new(int32(2000000000)) }),
			want:     []string{"preemption possible", "agent possible", "quota possible", "descheduler possible", "drain possible", "kubelet protected"},
			wantText: "its priority is 2000000000",
		},
		"a gate refuses, and the agent's feature does not take it": {
			in: inputOf(func(in *Input) {
				in.Descheduler.Evictability = evictability.Verdict{Refusals: []evictability.Refusal{{Gate: evictability.PVC, Message: "it uses a claim"}}}
				in.Agent.Features[0].Exclusion = "its label eviction-enabled is not true"
			}),
			want:     []string{"kubelet possible", "preemption possible", "quota possible", "drain possible", "agent protected", "descheduler protected"},
			wantText: "gate PVC: it uses a claim",
		},
		"its soft eviction is requested and due": {
			in: inputOf(func(in *Input) {
				in.Agent.Features = append(in.Agent.Features, Feature{Name: "SoftEvict", On: true, Short: true})
			}),
			want: []string{"agent now", "kubelet possible", "preemption possible", "quota possible", "descheduler possible", "drain possible"},
		},
		"its soft eviction is requested for later": {
			in: inputOf(func(in *Input) {
				in.Agent.Features = append(in.Agent.Features, Feature{Name: "SoftEvict", On: true, Waits: "its soft eviction waits"})
			}),
			want:     []string{"kubelet possible", "preemption possible", "agent possible", "quota possible", "descheduler possible", "drain possible"},
			wantText: "the node must reach memory usage >= 70% (MemoryEvict), or its soft eviction waits (SoftEvict)",
		},
		"its job runs and its node is cordoned": {
			in: inputOf(func(in *Input) {
				in.Descheduler.Job, in.Descheduler.Running, in.Node.Spec.Unschedulable = "job", true, true
			}),
			want: []string{"descheduler now", "drain now", "kubelet possible", "preemption possible", "agent possible", "quota possible"},
		},
		"its job waits": {
			in:       inputOf(func(in *Input) { in.Descheduler.Job = "job-1" }),
			want:     []string{"kubelet possible", "preemption possible", "agent possible", "quota possible", "descheduler possible", "drain possible"},
			wantText: "PodMigrationJob job-1 must pass the arbitration",
		},
		"neither agent, descheduler nor quota": {
			in:   inputOf(func(in *Input) { in.Agent, in.Descheduler, in.Quota = Agent{}, Descheduler{}, Quota{} }),
			want: []string{"kubelet possible", "preemption possible", "drain possible", "agent protected", "quota protected", "descheduler protected"},
		},
		"the quota is above its runtime": {
			in:   inputOf(func(in *Input) { in.Quota.Over = true }),
			want: []string{"quota now", "kubelet possible", "preemption possible", "agent possible", "descheduler possible", "drain possible"},
		},
		"a bare pod with an emptyDir": {
			in: inputOf(func(in *Input) {
				in.Pod.OwnerReferences = nil
				in.Pod.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			}),
			want:     []string{"kubelet possible", "preemption possible", "agent possible", "quota possible", "descheduler possible", "drain possible"},
			wantText: "volume scratch is an emptyDir",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Decide(test.in)
			if diff := cmp.Diff(test.want, lines(got)); diff != "" {
				t.Errorf("evictors (-want +got):\n%s", diff)
			}
			var text []string
			for _, e := range got {
				text = append(append(text, e.Needs...), e.Protections...)
			}
			if all := strings.Join(text, "\n"); !strings.Contains(all, test.wantText) {
				t.Errorf("what is needed and protects:\n%s\nwant it to contain %q", all, test.wantText)
			}
		})
	}
}
