package recommend

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

func list(cpu, memory string) corev1.ResourceList {
	out := corev1.ResourceList{}
	if cpu != "" {
		out[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		out[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return out
}

func running(name string, requests, limits corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// wish is 1 core and 1 GiB, from half of it to twice as much.
func wish(confidence float64) map[string]Recommendation {
	return map[string]Recommendation{"main": {
		CPU: Bounds{Lower: 500, Target: 1000, Upper: 2000}, Memory: Bounds{Lower: 512 * mebi, Target: 1024 * mebi, Upper: 2048 * mebi}, Confidence: confidence,
	}}
}

func TestResizes(t *testing.T) {
	with := func(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
		change(pod)
		return pod
	}
	tests := map[string]struct {
		pod                      *corev1.Pod
		confidence               float64
		appliedAgo               time.Duration
		wantRequests, wantLimits corev1.ResourceList
		wantSkip                 string
	}{
		"too much cpu is taken away":             {pod: running("a", list("4", "1Gi"), nil), wantRequests: list("1", "")},
		"too little cpu is given":                {pod: running("a", list("100m", "1Gi"), nil), wantRequests: list("1", "")},
		"within the bounds nothing happens":      {pod: running("a", list("2", "2Gi"), nil)},
		"too little memory is given":             {pod: running("a", list("1", "256Mi"), nil), wantRequests: list("", "1Gi")},
		"memory is never taken away":             {pod: running("a", list("1", "16Gi"), nil)},
		"limits keep their ratio":                {pod: running("a", list("4", "256Mi"), list("8", "512Mi")), wantRequests: list("1", "1Gi"), wantLimits: list("2", "2Gi")},
		"a guaranteed pod stays one":             {pod: running("a", list("4", "256Mi"), list("4", "256Mi")), wantRequests: list("1", "1Gi"), wantLimits: list("1", "1Gi")},
		"what is not requested stays so":         {pod: running("a", list("", "256Mi"), nil), wantRequests: list("", "1Gi")},
		"a pod without requests cannot get them": {pod: running("a", nil, nil), wantSkip: SkipNoInPlace},
		"less than a day is not enough":          {pod: running("a", list("4", "1Gi"), nil), confidence: 0.5, wantSkip: SkipUncertainty},
		"a pod that was resized lately waits":    {pod: running("a", list("4", "1Gi"), nil), appliedAgo: 59 * time.Minute, wantSkip: SkipCoolDown},
		"and an hour later no more":              {pod: running("a", list("4", "1Gi"), nil), appliedAgo: time.Hour, wantRequests: list("1", "")},
		"a pod that does not run": {
			pod: with(running("a", list("4", "1Gi"), nil), func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }), wantSkip: SkipNotRunning,
		},
		"a pod that goes": {
			pod: with(running("a", list("4", "1Gi"), nil), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }), wantSkip: SkipNotRunning,
		},
		"a resize is under way": {
			pod: with(running("a", list("4", "1Gi"), nil), func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue}}
			}), wantSkip: SkipUnderWay,
		},
		"a node that cannot resize": {
			pod: with(running("a", list("4", "1Gi"), nil), func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
			}), wantSkip: SkipNode,
		},
		"a node that can": {
			pod: with(running("a", list("4", "1Gi"), nil), func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Resources: &corev1.ResourceRequirements{},
				}}
			}), wantRequests: list("1", ""),
		},
		"resources of the pod as a whole": {
			pod: with(running("a", list("4", "1Gi"), nil), func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} }), wantSkip: SkipNoInPlace,
		},
		"pinned cpus stay, memory does not": {
			pod: with(running("a", list("4", "256Mi"), nil), func(p *corev1.Pod) {
				p.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSLSR)}
			}), wantRequests: list("", "1Gi"),
		},
		"no resource that restarts the container": {
			pod: with(running("a", list("4", "256Mi"), nil), func(p *corev1.Pod) {
				p.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}}
			}), wantRequests: list("1", ""),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := ResizeInput{At: noon, Options: DefaultResizeOptions(), Pods: []*corev1.Pod{test.pod}, Recommendations: wish(max(test.confidence, 0.5))}
			if test.confidence == 0 {
				in.Recommendations = wish(7)
			}
			if test.appliedAgo > 0 {
				in.Applied = map[types.UID]time.Time{"a": noon.Add(-test.appliedAgo)}
			}
			plan := Resizes(in)
			var requests, limits corev1.ResourceList
			for _, resize := range plan.Resizes {
				requests, limits = resize.Containers[0].Requests, resize.Containers[0].Limits
			}
			if diff := cmp.Diff(test.wantRequests, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantLimits, limits); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
			skip := ""
			for _, s := range plan.Skipped {
				skip = s.Reason
			}
			if skip != test.wantSkip {
				t.Errorf("skipped because %q, want %q", skip, test.wantSkip)
			}
		})
	}
}

func TestTheBudgetGoesToPodsWithTooLittleMemoryFirst(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 30 {
		pods = append(pods, running(fmt.Sprintf("pod-%02d", i), list("4", "1Gi"), nil))
	}
	pods[17].Spec.Containers[0].Resources.Requests = list("1", "64Mi")
	in := ResizeInput{At: noon, Options: DefaultResizeOptions(), Pods: pods, Recommendations: wish(7), Applied: map[types.UID]time.Time{
		"pod-00": noon.Add(-5 * time.Minute), "pod-01": noon.Add(-20 * time.Minute),
	}}
	plan := Resizes(in)
	if plan.Budget != 3 || plan.Used != 1 {
		t.Errorf("%d of %d used, want 1 of 3", plan.Used, plan.Budget)
	}
	var names []string
	for _, resize := range plan.Resizes {
		names = append(names, resize.Pod.Name)
	}
	if diff := cmp.Diff([]string{"pod-17", "pod-02"}, names); diff != "" {
		t.Errorf("resized (-want +got):\n%s", diff)
	}
}

func TestNoIntervalResizesMoreThanTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pods []*corev1.Pod
		for i := range rapid.IntRange(1, 60).Draw(t, "pods") {
			pods = append(pods, running(fmt.Sprint(i), list(rapid.SampledFrom([]string{"100m", "1", "9"}).Draw(t, "cpu"), "1Gi"), nil))
		}
		in := ResizeInput{Options: DefaultResizeOptions(), Pods: pods, Recommendations: wish(7), Applied: map[types.UID]time.Time{}}
		var times []time.Time
		for minute := range 90 {
			in.At = noon.Add(time.Duration(minute) * time.Minute)
			for _, resize := range Resizes(in).Resizes {
				in.Applied[resize.Pod.UID] = in.At
				times = append(times, in.At)
				// Somebody undoes some of them.
				if rapid.Bool().Draw(t, "stays") {
					resize.Pod.Spec.Containers[0].Resources.Requests = resize.Containers[0].Requests
				}
			}
			recent := 0
			for _, at := range times {
				if in.At.Sub(at) < in.Options.Interval {
					recent++
				}
			}
			if most := budget(in.Options, len(pods)); recent > most {
				t.Fatalf("%d pods of %d were resized within %s, want at most %d", recent, len(pods), in.Options.Interval, most)
			}
		}
	})
}

func TestSplitUsage(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := running("a", list("3", "1Gi"), nil)
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "setup", Resources: corev1.ResourceRequirements{Requests: list("9", "9Gi")}},
		{Name: "proxy", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: list("1", "1Gi")}},
	}
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "idle"})
	want := []Share{{"proxy", Usage{2, 100}}, {"main", Usage{6, 100}}, {"idle", Usage{2, 100}}}
	if diff := cmp.Diff(want, SplitUsage(pod, Usage{10, 300})); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

func TestWorkloadsOfAPod(t *testing.T) {
	owned := func(kind, name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: labels, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, Controller: new(true)}}}}
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want []Workload
	}{
		"alone":                    {pod: &corev1.Pod{}},
		"of a stateful set":        {pod: owned("StatefulSet", "db", nil), want: []Workload{{"StatefulSet", "db"}}},
		"of a deployment":          {pod: owned("ReplicaSet", "web-5d4f", map[string]string{"pod-template-hash": "5d4f"}), want: []Workload{{"ReplicaSet", "web-5d4f"}, {"Deployment", "web"}}},
		"of a job":                 {pod: owned("Job", "report", nil), want: []Workload{{"Job", "report"}}},
		"of a cron job":            {pod: owned("Job", "report-29384756", nil), want: []Workload{{"Job", "report-29384756"}, {"CronJob", "report"}}},
		"of a replica set by hand": {pod: owned("ReplicaSet", "web-1", map[string]string{"pod-template-hash": "5d4f"}), want: []Workload{{"ReplicaSet", "web-1"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, WorkloadsOf(test.pod)); diff != "" {
				t.Errorf("workloads (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBatchContainersAreRecommendedBatchResources(t *testing.T) {
	c := &corev1.Container{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{extension.BatchCPU: resource.MustParse("1k")}}}
	got := NamesOf(c).List(1500, 3*mebi-1)
	want := corev1.ResourceList{extension.BatchCPU: resource.MustParse("1500"), extension.BatchMemory: resource.MustParse("3Mi")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}
