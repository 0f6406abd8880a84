package recovery_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/scheduler/recovery"
)

const name = "Faulty"

// faulty panics at one extension point, as an index out of range does.
type faulty struct{ at recovery.Point }

func (p *faulty) Name() string { return name }

func (p *faulty) reach(point recovery.Point) {
	var empty []int
	if p.at == point {
		_ = empty[len(point)]
	}
}

func (p *faulty) PreFilter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(name, recovery.PreFilter, pod, &status)
	p.reach(recovery.PreFilter)
	return nil, nil
}

func (p *faulty) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

func (p *faulty) Filter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(name, recovery.Filter, pod, &status)
	p.reach(recovery.Filter)
	return nil
}

func (p *faulty) Score(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(name, recovery.Score, pod, &status)
	p.reach(recovery.Score)
	return 1, nil
}

func (p *faulty) ScoreExtensions() fwk.ScoreExtensions { return nil }

func (p *faulty) Reserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) (status *fwk.Status) {
	defer recovery.Status(name, recovery.Reserve, pod, &status)
	p.reach(recovery.Reserve)
	return nil
}

func (p *faulty) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	defer recovery.Ignore(name, recovery.Unreserve, pod)
	p.reach(recovery.Unreserve)
}

func frameworkWith(t *testing.T, plugin fwk.Plugin) framework.Framework {
	t.Helper()
	registry := frameworkplugins.NewInTreeRegistry()
	registry[name] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return plugin, nil }
	plugins := &config.Plugins{
		QueueSort:  config.PluginSet{Enabled: []config.Plugin{{Name: "PrioritySort"}}},
		Bind:       config.PluginSet{Enabled: []config.Plugin{{Name: "DefaultBinder"}}},
		MultiPoint: config.PluginSet{Enabled: []config.Plugin{{Name: name, Weight: 1}}},
	}
	built, err := frameworkruntime.NewFramework(t.Context(), registry, &config.KubeSchedulerProfile{SchedulerName: "s", Plugins: plugins},
		frameworkruntime.WithSnapshotSharedLister(internalcache.NewEmptySnapshot()))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// TestAPanicIsAStatus goes through the framework of kube-scheduler, which calls Score on separate goroutines.
func TestAPanicIsAStatus(t *testing.T) {
	schedulermetrics.Register()
	recovery.RegisterMetrics()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	info := framework.NewNodeInfo()
	info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	state := framework.NewCycleState()
	tests := map[recovery.Point]struct {
		run      func(framework.Framework) *fwk.Status
		wantCode fwk.Code
	}{
		recovery.PreFilter: {wantCode: fwk.UnschedulableAndUnresolvable, run: func(f framework.Framework) *fwk.Status {
			_, status, _ := f.RunPreFilterPlugins(t.Context(), state, pod)
			return status
		}},
		recovery.Filter: {wantCode: fwk.UnschedulableAndUnresolvable, run: func(f framework.Framework) *fwk.Status {
			return f.RunFilterPlugins(t.Context(), state, pod, info)
		}},
		recovery.Score: {wantCode: fwk.Error, run: func(f framework.Framework) *fwk.Status {
			_, status := f.RunScorePlugins(t.Context(), state, pod, []fwk.NodeInfo{info})
			return status
		}},
		recovery.Reserve: {wantCode: fwk.UnschedulableAndUnresolvable, run: func(f framework.Framework) *fwk.Status {
			return f.RunReservePluginsReserve(t.Context(), state, pod, "n")
		}},
		recovery.Unreserve: {wantCode: fwk.Success, run: func(f framework.Framework) *fwk.Status {
			f.RunReservePluginsUnreserve(t.Context(), state, pod, "n")
			return nil
		}},
	}
	for point, test := range tests {
		t.Run(string(point), func(t *testing.T) {
			before, err := testutil.GetCounterMetricValue(recovery.Panics(name, point))
			if err != nil {
				t.Fatal(err)
			}
			status := test.run(frameworkWith(t, &faulty{at: point}))
			if status.Code() != test.wantCode {
				t.Errorf("status %v, want code %v", status, test.wantCode)
			}
			if want := "plugin Faulty panicked in " + string(point) + ": runtime error: index out of range"; !status.IsSuccess() &&
				(!strings.Contains(status.Message(), want) || !recovery.Is(status.Message())) {
				t.Errorf("message %q, want %q in it", status.Message(), want)
			}
			after, err := testutil.GetCounterMetricValue(recovery.Panics(name, point))
			if err != nil || after != before+1 {
				t.Errorf("scheduler_plugin_panics_total is %v after %v (%v), want one more", after, before, err)
			}
		})
	}
}

func TestAHintThatPanicsWakesThePod(t *testing.T) {
	events := recovery.Hints(name, []fwk.ClusterEventWithHint{
		{QueueingHintFn: func(klog.Logger, *corev1.Pod, any, any) (fwk.QueueingHint, error) { panic("no such object") }},
		{QueueingHintFn: func(klog.Logger, *corev1.Pod, any, any) (fwk.QueueingHint, error) { return fwk.QueueSkip, nil }},
		{},
	})
	want := []fwk.QueueingHint{fwk.Queue, fwk.QueueSkip}
	for i, wantHint := range want {
		if got, err := events[i].QueueingHintFn(klog.Background(), &corev1.Pod{}, nil, nil); got != wantHint || err != nil {
			t.Errorf("hint %d answers %v (%v), want %v", i, got, err, wantHint)
		}
	}
	if events[2].QueueingHintFn != nil {
		t.Error("an event without a hint got one")
	}
}

func TestWhatASchedulerSaysOfAPanicIsKnown(t *testing.T) {
	for text, want := range map[string]bool{
		"plugin DeviceShare panicked in Score: boom":                                       true,
		`running "DeviceShare" filter plugin: plugin DeviceShare panicked in Filter: boom`: true,
		"Insufficient cpu": false,
		"":                 false,
	} {
		if got := recovery.Is(text); got != want {
			t.Errorf("Is(%q) is %v, want %v", text, got, want)
		}
	}
}
