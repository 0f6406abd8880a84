package zonequota

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/scheduler/explain"
	"koordinator.sh/koord/scheduler/part"
)

const profileYAML = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins: {multiPoint: {enabled: [{name: ZoneQuota}]}}
  pluginConfig:
  - name: ZoneQuota
    args: {maxPods: 1}
`

func profiles(t *testing.T) []config.KubeSchedulerProfile {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(profileYAML), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*config.KubeSchedulerConfiguration).Profiles
}

// parts is what the scheduler, and the engine that explains it, make plugins from.
var parts = part.Set{{Name: Name, Factory: New}}

// cluster is a real scheduler that runs no cycle, with the engine that explains it.
type cluster struct {
	*kubescheduler.Scheduler
	*explain.Engine
}

func newCluster(t *testing.T, nodes []*corev1.Node, pods []*corev1.Pod) cluster {
	t.Helper()
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	built, err := kubescheduler.New(t.Context(), client, factory, nil,
		func(string) events.EventRecorderLogger { return events.NewFakeRecorder(1) },
		kubescheduler.WithProfiles(profiles(t)...), kubescheduler.WithFrameworkOutOfTreeRegistry(parts.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := explain.New(t.Context(), explain.Config{
		Client: client, Informers: factory, Cache: built.Cache, Profiles: built.Profiles, ProfileConfigs: profiles(t),
		Nominator: built.SchedulingQueue, Parts: parts, Leader: func() bool { return true }, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		built.Cache.AddNode(klog.Background(), node)
	}
	for _, pod := range pods {
		if err := factory.Core().V1().Pods().Informer().GetIndexer().Add(pod); err != nil {
			t.Fatal(err)
		}
		if pod.Spec.NodeName == "" {
			continue
		}
		if err := built.Cache.AddPod(klog.Background(), pod); err != nil {
			t.Fatal(err)
		}
	}
	return cluster{Scheduler: built, Engine: engine}
}

// explain asks about a pod.
func (c cluster) explain(t *testing.T, pod string) diagnosticsv1alpha1.PodExplanationStatus {
	t.Helper()
	answer, err := c.Explain(t.Context(), &diagnosticsv1alpha1.PodExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default"}, Spec: diagnosticsv1alpha1.PodExplanationSpec{PodName: pod},
	})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status
}

func cordoned(node *corev1.Node) *corev1.Node {
	node.Spec.Unschedulable = true
	return node
}

func nodeIn(zone, name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("8"), "pods": resource.MustParse("10")}},
	}
}

// podOf is a pod of a team, on a node or pending.
func podOf(team, name, node string, priority int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{LabelTeam: team}},
		Spec:       corev1.PodSpec{SchedulerName: "koord-scheduler", NodeName: node, Priority: new(priority)},
	}
}

// newFramework is a scheduling framework with this plugin and the two that every profile needs.
func newFramework(t *testing.T, nodes []*corev1.Node, pods []*corev1.Pod) framework.Framework {
	t.Helper()
	metrics.Register()
	all := plugins.NewInTreeRegistry()
	if err := all.Merge(parts.Registry()); err != nil {
		t.Fatal(err)
	}
	one := func(name string) config.PluginSet { return config.PluginSet{Enabled: []config.Plugin{{Name: name}}} }
	profile := &config.KubeSchedulerProfile{
		SchedulerName: "koord-scheduler",
		Plugins:       &config.Plugins{QueueSort: one(names.PrioritySort), Bind: one(names.DefaultBinder), MultiPoint: one(Name)},
		PluginConfig:  []config.PluginConfig{{Name: Name, Args: &runtime.Unknown{Raw: []byte(`{"maxPods":1}`)}}},
	}
	built, err := frameworkruntime.NewFramework(t.Context(), all, profile, frameworkruntime.WithSnapshotSharedLister(internalcache.NewSnapshot(pods, nodes)))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func TestInTheFramework(t *testing.T) {
	elsewhere := podOf("red", "namesake", "w1", 0)
	elsewhere.Namespace = "shop"
	f := newFramework(t, []*corev1.Node{nodeIn("east", "e1"), nodeIn("east", "e2"), nodeIn("west", "w1")},
		[]*corev1.Pod{podOf("red", "old", "e1", 0), elsewhere})
	tests := map[string]struct {
		team string
		want []string
		// wantScores of e2 and w1.
		wantScores []int64
	}{
		"a full zone is refused whole": {team: "red", want: []string{"w1"}, wantScores: []int64{0, 100}},
		"another team has the room":    {team: "blue", want: []string{"e1", "e2", "w1"}, wantScores: []int64{100, 100}},
		"a pod without a team is free": {want: []string{"e1", "e2", "w1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state, pod := framework.NewCycleState(), podOf(test.team, "new", "", 0)
			passed := passing(t, f, state, pod)
			if diff := cmp.Diff(test.want, passed); diff != "" {
				t.Errorf("nodes that pass (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantScores, scores(t, f, state, pod, "e2", "w1")); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
		})
	}
}

// passing returns the nodes that no filter refuses, by name.
func passing(t *testing.T, f framework.Framework, state fwk.CycleState, pod *corev1.Pod) []string {
	t.Helper()
	if _, status, _ := f.RunPreFilterPlugins(t.Context(), state, pod); !status.IsSuccess() {
		t.Fatal(status)
	}
	nodes, err := f.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	var passed []string
	for _, node := range nodes {
		if f.RunFilterPlugins(t.Context(), state, pod, node).IsSuccess() {
			passed = append(passed, node.Node().Name)
		}
	}
	slices.Sort(passed)
	return passed
}

// scores returns the plugin's scores of nodes; none when it does not score the pod.
func scores(t *testing.T, f framework.Framework, state fwk.CycleState, pod *corev1.Pod, names ...string) []int64 {
	t.Helper()
	var nodes []fwk.NodeInfo
	for _, name := range names {
		info, err := f.SnapshotSharedLister().NodeInfos().Get(name)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, info)
	}
	if status := f.RunPreScorePlugins(t.Context(), state, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	scored, status := f.RunScorePlugins(t.Context(), state, pod, nodes)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	var list []int64
	for _, node := range scored {
		for _, score := range node.Scores {
			list = append(list, score.Score)
		}
	}
	return list
}

func TestPreemptionSeesTheZoneWithoutItsVictim(t *testing.T) {
	victim := podOf("red", "old", "e1", 0)
	f := newFramework(t, []*corev1.Node{nodeIn("east", "e1")}, []*corev1.Pod{victim})
	state, pod := framework.NewCycleState(), podOf("red", "new", "", 0)
	if passed := passing(t, f, state, pod); len(passed) != 0 {
		t.Fatalf("passed %v", passed)
	}
	node, err := f.SnapshotSharedLister().NodeInfos().Get("e1")
	if err != nil {
		t.Fatal(err)
	}
	info, err := framework.NewPodInfo(victim)
	if err != nil {
		t.Fatal(err)
	}
	trial := state.Clone()
	if status := f.RunPreFilterExtensionRemovePod(t.Context(), trial, pod, info, node); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := f.RunFilterPlugins(t.Context(), trial, pod, node); !status.IsSuccess() {
		t.Errorf("without its victim: %v", status)
	}
	if status := f.RunFilterPlugins(t.Context(), state, pod, node); status.IsSuccess() {
		t.Error("the trial changed the cycle it was made from")
	}
}

func TestTheExplanationHasTheCodeAndAFixThatWasTried(t *testing.T) {
	c := newCluster(t, []*corev1.Node{cordoned(nodeIn("east", "e1")), nodeIn("east", "e2")}, []*corev1.Pod{
		podOf("red", "old", "e1", 0), podOf("red", "new", "", 100),
	})
	status := c.explain(t, "new")
	want := "0/2 nodes are available: 2 node(s) had enough pods of team red in zone east, 1 node(s) were unschedulable."
	if status.Summary != want || status.Code != string(CodeZoneFull) {
		t.Errorf("summary %q with code %s, want %q", status.Summary, status.Code, want)
	}
	if want := "zone east has 1 pods of team red >= maxPods 1"; status.Groups[0].Message != want {
		t.Errorf("message %q, want %q", status.Groups[0].Message, want)
	}
	// The victim is on another node than the one that opens.
	fix := status.Fix
	if fix == nil || !fix.Verified || fix.Node != "e2" || fix.Description != "evict pod default/old of team red from zone east" {
		t.Errorf("fix %+v", fix)
	}
}

func TestAVictimIsOfTheZoneThatIsFull(t *testing.T) {
	c := newCluster(t, []*corev1.Node{cordoned(nodeIn("east", "e1")), nodeIn("east", "e2"), cordoned(nodeIn("west", "w1"))}, []*corev1.Pod{
		podOf("red", "old", "e1", 0), podOf("red", "a", "w1", 0), podOf("red", "new", "", 100),
	})
	if fix := c.explain(t, "new").Fix; fix == nil || fix.Command != "kubectl delete pod -n default old" {
		t.Errorf("fix %+v, want the eviction of old", fix)
	}
}

func TestWithoutAVictimThereIsNoFix(t *testing.T) {
	c := newCluster(t, []*corev1.Node{nodeIn("east", "e1")}, []*corev1.Pod{podOf("red", "old", "e1", 100), podOf("red", "new", "", 100)})
	if fix := c.explain(t, "new").Fix; fix != nil {
		t.Errorf("fix %+v", fix)
	}
}

func TestPodsWakeWhenOneOfTheirTeamLeaves(t *testing.T) {
	pod := podOf("red", "new", "", 0)
	tests := map[string]struct {
		gone any
		want fwk.QueueingHint
	}{
		"a pod of the team":                  {gone: podOf("red", "a", "e1", 0), want: fwk.Queue},
		"a pod of another team":              {gone: podOf("blue", "a", "e1", 0), want: fwk.QueueSkip},
		"a pod of the team that had no node": {gone: podOf("red", "a", "", 0), want: fwk.QueueSkip},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := afterPodGone(klog.Background(), pod, test.gone, nil); err != nil || got != test.want {
				t.Errorf("hint %v, error %v, want %v", got, err, test.want)
			}
		})
	}
	if _, err := afterPodGone(klog.Background(), pod, "x", nil); err == nil {
		t.Error("an object that is no pod is no error")
	}
}

func TestOnlyPodsWithoutATeamAreSigned(t *testing.T) {
	f := newFramework(t, nil, nil)
	if signature := f.SignPod(t.Context(), podOf("red", "a", "", 0)); signature != nil {
		t.Errorf("a pod of a team is signed %v", signature)
	}
	plugin := &Plugin{}
	if _, status := plugin.SignPod(t.Context(), podOf("", "a", "", 0)); !status.IsSuccess() {
		t.Errorf("a pod without a team is not signed: %v", status)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	for args, want := range map[string]string{`{"maxPods":0}`: "maxPods", `{"maxpods":1}`: `unknown field "maxpods"`} {
		if _, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", args, err, want)
		}
	}
}
