package frameworkext

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/scheduler/recorder"
)

// crowd is a plugin that refuses nodes with pods on them, counts pods in PreFilter, restores and proposes what the test
// sets, and scores every node the same.
type crowd struct {
	// refused are the pods that were reported to have found no node.
	refused  []string
	restored map[string]Restored
	proposed []string
	removed  []string
}

func (*crowd) Name() string { return "Crowd" }
func (c *crowd) PreFilter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if c.restored != nil {
		Restore(state, c.restored)
	}
	return nil, nil
}
func (c *crowd) PreFilterExtensions() fwk.PreFilterExtensions { return c }
func (*crowd) AddPod(context.Context, fwk.CycleState, *corev1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	return nil
}
func (c *crowd) RemovePod(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, removed fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	c.removed = append(c.removed, removed.GetPod().Name+" from "+info.Node().Name)
	return nil
}
func (*crowd) Filter(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	if len(info.GetPods()) > 0 {
		return fwk.NewStatus(fwk.Unschedulable, "crowded")
	}
	return nil
}
func (*crowd) Score(context.Context, fwk.CycleState, *corev1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 7, nil
}
func (*crowd) ScoreExtensions() fwk.ScoreExtensions { return nil }
func (c *crowd) Propose(context.Context, fwk.CycleState, *corev1.Pod) []string {
	return c.proposed
}

func (c *crowd) Refused(_ fwk.CycleState, pod *corev1.Pod) { c.refused = append(c.refused, pod.Name) }

func podOf(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
}

func nodeOf(name string, pods ...*corev1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return info
}

func wrap(t *testing.T, plugin *crowd, attempts Recorder) *Framework {
	t.Helper()
	metrics.Register()
	set := func(name string) config.PluginSet {
		return config.PluginSet{Enabled: []config.Plugin{{Name: name, Weight: 1}}}
	}
	plugins := &config.Plugins{QueueSort: set(queuesort.Name), Bind: set(defaultbinder.Name), PreFilter: set("Crowd"), Filter: set("Crowd"), Score: set("Crowd")}
	registry := frameworkruntime.Registry{
		queuesort.Name: queuesort.New, defaultbinder.Name: defaultbinder.New,
		"Crowd": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return plugin, nil },
	}
	held := podOf("held")
	held.Spec.NodeName = "full"
	nodes := []*corev1.Node{nodeOf("empty").Node(), nodeOf("full").Node()}
	inner, err := frameworkruntime.NewFramework(t.Context(), registry, &config.KubeSchedulerProfile{SchedulerName: "s", Plugins: plugins},
		frameworkruntime.WithSnapshotSharedLister(internalcache.NewSnapshot([]*corev1.Pod{held}, nodes)), frameworkruntime.WithPodNominator(nobody{}))
	if err != nil {
		t.Fatal(err)
	}
	return Wrap(inner, []fwk.Plugin{plugin}, attempts)
}

// nobody is a nominator without nominated pods.
type nobody struct{}

func (nobody) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (nobody) DeleteNominatedPodIfExists(*corev1.Pod)                        {}
func (nobody) UpdateNominatedPod(klog.Logger, *corev1.Pod, fwk.PodInfo)      {}
func (nobody) NominatedPodsForNode(string) []fwk.PodInfo                     { return nil }

func TestRestoredNodesAreSeenByAllPlugins(t *testing.T) {
	held, err := framework.NewPodInfo(podOf("held"))
	if err != nil {
		t.Fatal(err)
	}
	plugin := &crowd{}
	wrapped, pod := wrap(t, plugin, nil), podOf("p")
	full, err := wrapped.SnapshotSharedLister().NodeInfos().Get("full")
	if err != nil {
		t.Fatal(err)
	}
	state := framework.NewCycleState()
	wrapped.RunPreFilterPlugins(t.Context(), state, pod)
	if status := wrapped.RunFilterPluginsWithNominatedPods(t.Context(), state, pod, full); status.IsSuccess() {
		t.Error("the node is full, and passes")
	}
	plugin.restored = map[string]Restored{"full": {Node: nodeOf("full"), Removed: []fwk.PodInfo{held}}}
	state = framework.NewCycleState()
	if _, status, _ := wrapped.RunPreFilterPlugins(t.Context(), state, pod); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := wrapped.RunFilterPluginsWithNominatedPods(t.Context(), state, pod, full); !status.IsSuccess() {
		t.Errorf("the node is restored: %v", status)
	}
	if status := wrapped.RunFilterPluginsWithNominatedPods(t.Context(), state.Clone(), pod, full); !status.IsSuccess() {
		t.Errorf("the node is restored in a clone of the state, too: %v", status)
	}
	if diff := cmp.Diff([]string{"held from full"}, plugin.removed); diff != "" {
		t.Errorf("pods that PreFilter plugins were told to forget (-want +got):\n%s", diff)
	}
}

func TestTheFirstProposedNodeThatPassesIsTried(t *testing.T) {
	plugin := &crowd{proposed: []string{"gone", "full", "empty"}}
	wrapped, pod, state := wrap(t, plugin, nil), podOf("p"), framework.NewCycleState()
	wrapped.RunPreFilterPlugins(t.Context(), state, pod)
	if got := wrapped.GetNodeHint(t.Context(), pod, nil, state, 1); got != "empty" {
		t.Errorf("hint %q, want empty", got)
	}
	plugin.proposed = []string{"full"}
	if got := wrapped.GetNodeHint(t.Context(), pod, nil, state, 1); got != "" {
		t.Errorf("hint %q, want none", got)
	}
}

func TestPluginsAreToldOfPodsThatFoundNoNode(t *testing.T) {
	plugin := &crowd{}
	wrapped, pod, state := wrap(t, plugin, nil), podOf("p"), framework.NewCycleState()
	wrapped.RunPreFilterPlugins(t.Context(), state, pod)
	wrapped.RunPostFilterPlugins(t.Context(), state, pod, framework.NewDefaultNodeToStatus())
	if diff := cmp.Diff([]string{"p"}, plugin.refused); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func TestAttemptsAreRecorded(t *testing.T) {
	attempts := recorder.New(recorder.DefaultBounds(), time.Now)
	plugin := &crowd{}
	wrapped, pod, state := wrap(t, plugin, attempts), podOf("p"), framework.NewCycleState()
	wrapped.RunPreFilterPlugins(t.Context(), state, pod)
	if _, status := wrapped.RunScorePlugins(t.Context(), state, pod, []fwk.NodeInfo{nodeOf("empty"), nodeOf("other")}); !status.IsSuccess() {
		t.Fatal(status)
	}
	wrapped.RunReservePluginsReserve(t.Context(), state, pod, "other")
	history := attempts.History("p")
	if len(history) != 1 || history[0].Node != "other" || history[0].Feasible != 2 || history[0].Best[0].Node != "other" || history[0].Best[0].Total != 7 {
		t.Errorf("history %+v", history)
	}
}

func TestFailuresAreCountedByReason(t *testing.T) {
	status := func(code fwk.Code, plugin, reason string) *fwk.Status {
		return fwk.NewStatus(code, reason).WithPlugin(plugin)
	}
	unfit := &framework.FitError{Pod: podOf("p"), NumAllNodes: 5, Diagnosis: framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}}
	unfit.Diagnosis.NodeToStatus.Set("a", status(fwk.Unschedulable, "Fit", "too little cpu"))
	unfit.Diagnosis.NodeToStatus.Set("b", status(fwk.Unschedulable, "Fit", "too little cpu"))
	unfit.Diagnosis.NodeToStatus.SetAbsentNodesStatus(status(fwk.UnschedulableAndUnresolvable, "Affinity", "not chosen"))
	attempts := recorder.New(recorder.DefaultBounds(), time.Now)
	called := false
	handler := RecordFailures(func(context.Context, framework.Framework, *framework.QueuedPodInfo, *fwk.Status, *fwk.NominatingInfo, time.Time) {
		called = true
	}, attempts)
	info, err := framework.NewPodInfo(podOf("p"))
	if err != nil {
		t.Fatal(err)
	}
	handler(t.Context(), nil, &framework.QueuedPodInfo{PodInfo: info}, fwk.NewStatus(fwk.Unschedulable).WithError(unfit), nil, time.Time{})
	history := attempts.History("p")
	if !called || len(history) != 1 {
		t.Fatalf("called %v, history %+v", called, history)
	}
	want := []recorder.Refusal{{Plugin: "Affinity", Reason: "not chosen", Nodes: 3}, {Plugin: "Fit", Reason: "too little cpu", Nodes: 2}}
	if diff := cmp.Diff(want, history[0].Refusals); diff != "" || history[0].Outcome != recorder.Unschedulable {
		t.Errorf("outcome %s, refusals (-want +got):\n%s", history[0].Outcome, diff)
	}
}
