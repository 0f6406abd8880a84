package elasticquota

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fcache "k8s.io/client-go/tools/cache/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/scheduler/state/quotas"
	"koordinator.sh/koord/test/informertest"
)

// fixture is a real framework of NodeResourcesFit, DefaultPreemption and the plugin, on one node of 10 cpu unless said
// otherwise, with the real state behind it.
type fixture struct {
	t         testing.TB
	plugin    *Plugin
	framework framework.Framework
	state     *quotas.State
	quotas    *fcache.FakeControllerSource
	client    *fake.Clientset
	woken     chan string
}

// activator hands on which pods are woken.
type activator chan string

func (a activator) Activate(_ klog.Logger, pods map[string]*corev1.Pod) {
	for name := range pods {
		a <- name
	}
}

const profile = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: s
  plugins:
    multiPoint: {disabled: [{name: "*"}], enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NodeResourcesFit}, {name: ElasticQuota}, {name: DefaultPreemption}]}
  pluginConfig: [{name: ElasticQuota, args: ARGS}]
`

func newFixture(t testing.TB, args string, objects ...runtime.Object) *fixture {
	t.Helper()
	metrics.Register()
	ctx, cancel := context.WithCancel(context.Background())
	var pods []*corev1.Pod
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("10"), "pods": resource.MustParse("100")}}}
	f := &fixture{t: t, quotas: fcache.NewFakeControllerSource(), woken: make(chan string, 10)}
	kubernetes := []runtime.Object{node}
	for _, object := range objects {
		switch typed := object.(type) {
		case *schedulingsigsv1alpha1.ElasticQuota:
			f.quotas.Add(typed)
			continue
		case *corev1.Pod:
			if typed.Spec.NodeName != "" {
				pods = append(pods, typed)
			}
		}
		kubernetes = append(kubernetes, object)
	}
	f.client = informertest.NewClientset(kubernetes...)
	factory := informers.NewSharedInformerFactory(f.client, 0)
	var err error
	if f.state, err = quotas.NewFrom(f.quotas, factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer()); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { f.state.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait(); factory.Shutdown() })
	f.build(ctx, args, factory, internalcache.NewSnapshot(pods, []*corev1.Node{node}))
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := f.state.WaitForSync(ctx); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) build(ctx context.Context, args string, factory informers.SharedInformerFactory, snapshot fwk.SharedLister) {
	f.t.Helper()
	if args == "" {
		args = "{}"
	}
	object, _, err := configscheme.Codecs.UniversalDecoder().Decode([]byte(replaceArgs(args)), nil, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	registry := plugins.NewInTreeRegistry()
	if err := registry.Register(Name, Factory(f.state)); err != nil {
		f.t.Fatal(err)
	}
	queue := internalqueue.NewSchedulingQueue(nil, factory)
	f.framework, err = frameworkruntime.NewFramework(ctx, registry, &object.(*config.KubeSchedulerConfiguration).Profiles[0],
		frameworkruntime.WithClientSet(f.client), frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithPodNominator(queue), frameworkruntime.WithPodActivator(activator(f.woken)), frameworkruntime.WithParallelism(1),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()), frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithEventRecorder(events.NewFakeRecorder(100)),
	)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, plugin := range f.framework.EnqueueExtensions() {
		if found, ok := plugin.(*Plugin); ok {
			f.plugin = found
		}
	}
}

func newQuota(name, minimum, maximum string, labels ...string) *schedulingsigsv1alpha1.ElasticQuota {
	object := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "q", Name: name, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		object.Labels[labels[i]] = labels[i+1]
	}
	object.Spec.Min = corev1.ResourceList{"cpu": resource.MustParse(minimum)}
	object.Spec.Max = corev1.ResourceList{"cpu": resource.MustParse(maximum)}
	return object
}

func newPod(name, cpu, quota string, priority int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelQuotaName: quota}},
		Spec: corev1.PodSpec{Priority: &priority, SchedulerName: "s", Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}},
		}},
	}
}

func running(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = "n"
	pod.Status.StartTime = &metav1.Time{Time: time.Unix(1000, 0)}
	return pod
}

// startedAgo makes it a pod of which nothing was predicted that has run for a time.
func startedAgo(ran time.Duration, pod *corev1.Pod) *corev1.Pod {
	pod = running(pod)
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: time.Now().Add(-ran)}
	return pod
}

// ofJob makes it a pod of a job that has run for a time and likely takes an hour.
func ofJob(ran time.Duration, pod *corev1.Pod) *corev1.Pod {
	pod = startedAgo(ran, pod)
	_ = extension.SetJobPrediction(pod, &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 3600, LeastSeconds: 3000, MostSeconds: 5400, Runs: 9}})
	return pod
}

func fixed(pod *corev1.Pod) *corev1.Pod {
	pod.Labels[extension.LabelQuotaPreemptible] = "false"
	return pod
}

// schedule runs the extension points up to the choice of a node, and preemption when there is none.
func (f *fixture) schedule(pod *corev1.Pod) (state fwk.CycleState, status *fwk.Status, result *fwk.PostFilterResult) {
	f.t.Helper()
	state = framework.NewCycleState()
	nodes := framework.NewDefaultNodeToStatus()
	_, status, _ = f.framework.RunPreFilterPlugins(context.Background(), state, pod)
	if status.IsSuccess() {
		info, err := f.framework.SnapshotSharedLister().NodeInfos().Get("n")
		if err != nil {
			f.t.Fatal(err)
		}
		if status = f.framework.RunFilterPluginsWithNominatedPods(context.Background(), state, pod, info); status.IsSuccess() {
			return state, nil, nil
		}
		nodes.Set("n", status)
	} else {
		nodes.SetAbsentNodesStatus(status)
	}
	if status.Code() == fwk.Unschedulable {
		result, _ = f.framework.RunPostFilterPlugins(context.Background(), state, pod, nodes)
	}
	return state, status, result
}
