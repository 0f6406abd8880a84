package lownodeload

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/descheduling/nodeload"
)

// moment at which the passes of the tests begin.
var moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const gi = 1 << 30

// builtPod is a pod with what its NodeMetric reports of it: milliCPU and GiB.
type builtPod struct {
	*corev1.Pod
	cpu, memory int64
	unreported  bool
}

// pod is a prod pod that requests nothing and uses some cpu.
func pod(name string, cpu int64, changes ...func(*builtPod)) builtPod {
	built := builtPod{cpu: cpu, Pod: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(moment.Add(-time.Hour))},
		Spec:       corev1.PodSpec{Priority: new(int32(9500))},
		Status:     corev1.PodStatus{QOSClass: corev1.PodQOSBurstable},
	}}
	for _, change := range changes {
		change(&built)
	}
	return built
}

func batch(built *builtPod)      { built.Spec.Priority = new(int32(5500)) }
func unreported(built *builtPod) { built.unreported = true }

func newer(built *builtPod) { built.CreationTimestamp = metav1.NewTime(moment) }

// ofJob makes it a pod of a job that has run for a time and likely takes an hour.
func ofJob(ran time.Duration) func(*builtPod) {
	return func(built *builtPod) {
		built.Status.Phase, built.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: moment.Add(-ran)}
		_ = extension.SetJobPrediction(built.Pod, &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 3600, LeastSeconds: 3000, MostSeconds: 5400, Runs: 9}})
	}
}

func using(memory int64) func(*builtPod) { return func(built *builtPod) { built.memory = memory } }

func namespaced(namespace string) func(*builtPod) {
	return func(built *builtPod) { built.Namespace = namespace }
}

func requesting(cpu int64) func(*builtPod) {
	return func(built *builtPod) {
		built.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI)}}}}
	}
}

// node has 10 CPUs and 100 GiB, and its system uses 500 milliCPU and 5 GiB.
func node(name string, pods ...builtPod) Node {
	out := Node{
		Node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("100Gi"), corev1.ResourcePods: resource.MustParse("110"),
			}},
		},
		Metric: &nodeload.Report{UpdateTime: moment, HasUsage: true, System: usage(500, 5)},
	}
	for _, built := range pods {
		built.Spec.NodeName = name
		out.Pods = append(out.Pods, built.Pod)
		if !built.unreported {
			out.Metric.Pods = append(out.Metric.Pods, nodeload.Pod{Namespace: built.Namespace, Name: built.Name, Usage: usage(built.cpu, built.memory)})
		}
	}
	return out
}

func usage(cpu, memory int64) nodeload.Amounts {
	return nodeload.Amounts{{Resource: corev1.ResourceCPU, Value: cpu}, {Resource: corev1.ResourceMemory, Value: memory * gi}}
}

// loaded is a node of which one pod and the system use so many percent of the cpu.
func loaded(name string, percent int) Node {
	return node(name, pod(name+"-pod", int64(percent)*100-500))
}

// policy compiles arguments: low 45 %, high 75 % of cpu, and the first overutilized pass counts, unless they say otherwise.
func policy(t testing.TB, changes ...func(*Args)) *Policy {
	t.Helper()
	args := &Args{PoolSettings: PoolSettings{
		LowThresholds: Thresholds{corev1.ResourceCPU: 45}, HighThresholds: Thresholds{corev1.ResourceCPU: 75},
		AnomalyCondition: &AnomalyCondition{ConsecutiveAbnormalities: 1},
	}}
	for _, change := range changes {
		change(args)
	}
	SetDefaults(args)
	if errs := Validate(args); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	compiled, err := Compile(args)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// names lists victims as pod: node -> target.
func names(victims []Victim) []string {
	var out []string
	for i := range victims {
		out = append(out, fmt.Sprintf("%s: %s -> %s", victims[i].Pod.Name, victims[i].Node, victims[i].Target))
	}
	return out
}

func classes(verdict Verdict) map[string]Class {
	out := map[string]Class{}
	for i := range verdict.Nodes {
		out[verdict.Nodes[i].Name] = verdict.Nodes[i].Class
	}
	return out
}
