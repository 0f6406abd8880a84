package coscheduling

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fcache "k8s.io/client-go/tools/cache/testing"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// withCPU asks for one CPU.
func withCPU(pod *corev1.Pod, priority int32) *corev1.Pod {
	pod.Spec.Priority = &priority
	pod.Spec.Containers = []corev1.Container{{
		Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}},
	}}
	return pod
}

// crowded are two nodes of two CPUs, and pods on all of them, of priorities 0 to 3.
func crowded() ([]*corev1.Node, []*corev1.Pod) {
	var nodes []*corev1.Node
	var pods []*corev1.Pod
	for i := range 2 {
		capacity := corev1.ResourceList{"cpu": resource.MustParse("2"), "pods": resource.MustParse("10")}
		nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}, Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity}})
	}
	for i := range 4 {
		name := fmt.Sprintf("p%d", i)
		pod := withCPU(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}, int32(i))
		pod.Spec.NodeName = fmt.Sprintf("n%d", i%2)
		pods = append(pods, pod)
	}
	return nodes, pods
}

// startedAgo makes it a pod of which nothing was predicted that has run for a time.
func startedAgo(ran time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: time.Now().Add(-ran)}
	}
}

// ofJob makes it a pod of a job that has run for a time and likely takes an hour.
func ofJob(ran time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		startedAgo(ran)(pod)
		_ = extension.SetJobPrediction(pod, &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 3600, LeastSeconds: 3000, MostSeconds: 5400, Runs: 9}})
	}
}

// preempting is a plugin with enablePreemption, whose handle shows nodes and pods.
func preempting(t *testing.T, nodes []*corev1.Node, pods []*corev1.Pod) (*Plugin, *gangs.State) {
	t.Helper()
	metrics.Register()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	client := fake.NewClientset()
	shared := informers.NewSharedInformerFactory(client, 0)
	state, err := gangs.NewFrom(fcache.NewFakeControllerSource(), shared.Core().V1().Pods().Informer(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	made := &cluster{}
	registry := plugins.NewInTreeRegistry()
	registry[Name] = made.remember(Factory(state))
	enabled := func(list ...string) (set config.PluginSet) {
		for _, name := range list {
			set.Enabled = append(set.Enabled, config.Plugin{Name: name})
		}
		return set
	}
	profile := &config.KubeSchedulerProfile{SchedulerName: "koord-scheduler", Plugins: &config.Plugins{
		QueueSort: enabled(Name), PreFilter: enabled(Name, names.NodeResourcesFit), Filter: enabled(names.NodeResourcesFit),
		PostFilter: enabled(Name), Bind: enabled(names.DefaultBinder),
	}, PluginConfig: []config.PluginConfig{
		{Name: Name, Args: &runtime.Unknown{Raw: []byte(`{"enablePreemption":true}`)}},
		{Name: names.NodeResourcesFit, Args: &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
			Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}},
		}}},
	}}
	if _, err := frameworkruntime.NewFramework(ctx, registry, profile, frameworkruntime.WithInformerFactory(shared), frameworkruntime.WithClientSet(client),
		frameworkruntime.WithSnapshotSharedLister(internalcache.NewSnapshot(pods, nodes))); err != nil {
		t.Fatal(err)
	}
	return made.plugin, state
}

// TestForesight asks preemption for a gang of three on two full nodes.
func TestForesight(t *testing.T) {
	evicts := &diagnosticsv1alpha1.Preemption{
		Verdict: "Evicts", Plugin: Name, NodesTried: 2, NodesHelped: 2,
		Message: "Coscheduling would evict 3 pods for 3 members of gangGroup default/a at once, on 2 nodes",
	}
	losing := *evicts
	losing.Message += "; jobs would lose 30m of work"
	helpless := func(nodes int32, message string, refusals ...diagnosticsv1alpha1.PreemptionRefusal) *diagnosticsv1alpha1.Preemption {
		return &diagnosticsv1alpha1.Preemption{Verdict: "Helpless", Plugin: Name, NodesTried: nodes, Message: message, Refusals: refusals}
	}
	lacksCPU := func(count int32) diagnosticsv1alpha1.PreemptionRefusal {
		return diagnosticsv1alpha1.PreemptionRefusal{Plugin: names.NodeResourcesFit, Reason: "Insufficient cpu", Count: count}
	}
	everything := func(change func(*corev1.Pod)) func([]*corev1.Pod) {
		return func(pods []*corev1.Pod) {
			for _, pod := range pods {
				change(pod)
			}
		}
	}
	tests := map[string]struct {
		running func([]*corev1.Pod)
		member  func(*corev1.Pod)
		change  func(*gangs.State)
		members int
		want    *diagnosticsv1alpha1.Preemption
	}{
		"three pods go":                   {want: evicts},
		"three pods of jobs go":           {running: everything(ofJob(10*time.Minute + time.Second)), want: &losing},
		"whoever of the gang was refused": {change: func(s *gangs.State) { s.Fail(keyIn("a"), memberOf("a", 0), "no room") }, want: evicts},
		"too many members":                {members: 5, want: helpless(2, "evicting pods with lower priority does not make room for gangGroup default/a", lacksCPU(2))},
		"all others are as important":     {running: everything(func(p *corev1.Pod) { *p.Spec.Priority = 1000 }), want: helpless(0, "no pod that may be evicted has a lower priority than all members of gangGroup default/a")},
		"all others are protected":        {running: everything(func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelDisablePreemptible: "true"} }), want: helpless(0, "no pod that may be evicted has a lower priority than all members of gangGroup default/a")},
		"members may not preempt":         {member: func(p *corev1.Pod) { p.Spec.PreemptionPolicy = new(corev1.PreemptNever) }, want: &diagnosticsv1alpha1.Preemption{Verdict: "NotAllowed", Plugin: Name, Message: "not eligible due to preemptionPolicy=Never."}},
		"victims are terminating":         {change: func(s *gangs.State) { s.Evict("default/a", []types.UID{"p0", "p1", "gone"}) }, want: &diagnosticsv1alpha1.Preemption{Verdict: "Waits", Plugin: Name, Message: "gangGroup default/a waits for 2 victims to terminate"}},
		"room without evictions":          {running: everything(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1m") }), members: 1, want: helpless(2, "gangGroup default/a fits without evictions")},
		"members do not need each other":  {change: func(s *gangs.State) { s.Suppose(nonStrict()) }},
		"the gang ran, and takes single members": {change: func(s *gangs.State) {
			s.SupposePod(runningMember(7))
			s.SupposePod(runningMember(8))
			s.SupposePod(runningMember(9))
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			nodes, pods := crowded()
			if test.running != nil {
				test.running(pods)
			}
			plugin, state := preempting(t, nodes, pods)
			members := cmp.Or(test.members, 3)
			state.Suppose(groupIn("a", int32(members)))
			var asked *corev1.Pod
			for i := range members {
				pod := withCPU(memberOf("a", i), 1000)
				if test.member != nil {
					test.member(pod)
				}
				state.SupposePod(pod)
				if i <= 1 {
					asked = pod
				}
			}
			if test.change != nil {
				test.change(state)
			}
			got, err := plugin.ForesightOf(t.Context(), asked)
			if err != nil {
				t.Fatal(err)
			}
			if got != nil && got.Verdict == diagnosticsv1alpha1.PreemptionEvicts { // on which node first, the order of the snapshot decides
				if len(got.Victims) != 3 || got.Victims[0].Priority < got.Victims[1].Priority || got.NodeName == "" {
					t.Errorf("node %q, victims %+v", got.NodeName, got.Victims)
				}
				got.Victims, got.NodeName = nil, ""
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOfEqualPodsTheJobGoesThatLosesLeast: one of two pods of one priority has to go.
func TestOfEqualPodsTheJobGoesThatLosesLeast(t *testing.T) {
	for name, test := range map[string]struct {
		p0, p2 func(*corev1.Pod)
		want   string
	}{
		"without predictions the younger one":          {startedAgo(10 * time.Minute), startedAgo(20 * time.Minute), "p0"},
		"with them the one that has just begun":        {ofJob(50 * time.Minute), ofJob(10 * time.Minute), "p2"},
		"also one that is older and has no prediction": {ofJob(50 * time.Minute), startedAgo(5 * time.Hour), "p2"},
		"of two in the same quarter the younger one":   {ofJob(10 * time.Minute), ofJob(12 * time.Minute), "p0"},
		"one that takes longer than nearly all others": {ofJob(50 * time.Minute), ofJob(5 * time.Hour), "p2"},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, pods := crowded()
			for i, pod := range pods {
				*pod.Spec.Priority = int32(2000 - 1995*((i+1)%2)) // those on the first node are less important than the gang
			}
			test.p0(pods[0])
			test.p2(pods[2])
			plugin, state := preempting(t, nodes, pods)
			state.Suppose(groupIn("a", 1))
			asked := withCPU(memberOf("a", 0), 1000)
			state.SupposePod(asked)
			got, err := plugin.ForesightOf(t.Context(), asked)
			if err != nil {
				t.Fatal(err)
			}
			if got == nil || len(got.Victims) != 1 || got.Victims[0].Name != test.want {
				t.Errorf("%+v, want that %s is evicted", got, test.want)
			}
		})
	}
}

func nonStrict() *schedulingsigsv1alpha1.PodGroup {
	group := groupIn("a", 3)
	group.Annotations = map[string]string{extension.AnnotationGangMode: string(extension.GangModeNonStrict)}
	return group
}

func runningMember(index int) *corev1.Pod {
	pod := memberOf("a", index)
	pod.Spec.NodeName = "n9"
	return pod
}

func TestForesightOfOthers(t *testing.T) {
	plugin, _ := preempting(t, nil, nil)
	if got, err := plugin.ForesightOf(t.Context(), &corev1.Pod{}); got != nil || err != nil {
		t.Errorf("a pod without a gang: %+v, %v", got, err)
	}
	nodes, pods := crowded()
	plugin, state := preempting(t, nodes, pods)
	state.Suppose(groupIn("a", 1))
	member := withCPU(memberOf("a", 0), 1000)
	state.SupposePod(member)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := plugin.ForesightOf(ctx, member); err == nil || !strings.Contains(err.Error(), "default/a") {
		t.Errorf("the question is withdrawn: %+v, %v", got, err)
	}
}
