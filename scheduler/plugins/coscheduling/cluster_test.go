package coscheduling

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/test/informertest"
)

const profileYAML = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    multiPoint: {enabled: [{name: Coscheduling}, {name: DefaultPreBind}]}
    postFilter: {enabled: [{name: Coscheduling}]}
    bind: {enabled: [{name: DefaultPreBind}, {name: DefaultBinder}], disabled: [{name: "*"}]}
  pluginConfig:
  - name: Coscheduling
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: CoschedulingArgs, defaultTimeout: 20s, enablePreemption: PREEMPTION, awareNetworkTopology: NETWORK}
`

// cluster is an API server in memory. Schedulers come and go.
type cluster struct {
	client *fake.Clientset
	groups *fcache.FakeControllerSource
	// bindings still allowed; negative for all.
	bindings atomic.Int64
	// refused counts bindings that were not, done those that were.
	refused, done atomic.Int64
	state         *gangs.State
	plugin        *Plugin
	// preemption is enablePreemption.
	preemption bool
	// network feeds ClusterNetworkTopologies; nil for none.
	network *fcache.FakeControllerSource
	// priority of pods that are created.
	priority int32
	// between stands between the plugin and its state, to have things happen in a certain order; nil for nothing.
	between func(*gangs.State) State
	// pods stands between the informer of pods and the state; nil for nothing.
	pods      func(cache.SharedIndexInformer) cache.SharedIndexInformer
	scheduler *kubescheduler.Scheduler
}

func newCluster(t testing.TB, nodes, cpus int) *cluster {
	t.Helper()
	c := &cluster{client: informertest.NewClientset(), groups: fcache.NewFakeControllerSource()}
	c.bindings.Store(-1)
	c.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		return true, nil, c.bind(action.(clienttesting.CreateAction).GetObject().(*corev1.Binding))
	})
	for i := range nodes {
		capacity := corev1.ResourceList{"cpu": *resource.NewQuantity(int64(cpus), resource.DecimalSI), "pods": resource.MustParse("500")}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}, Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity}}
		if err := c.client.Tracker().Add(node); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// binding serialises what the API server would do in one transaction.
var binding sync.Mutex

func (c *cluster) bind(target *corev1.Binding) error {
	binding.Lock()
	defer binding.Unlock()
	if left := c.bindings.Load(); left == 0 {
		c.refused.Add(1)
		return apierrors.NewInternalError(fmt.Errorf("the API server is gone"))
	} else if left > 0 {
		c.bindings.Add(-1)
	}
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	object, err := c.client.Tracker().Get(resource, target.Namespace, target.Name)
	if err != nil {
		return err
	}
	pod := object.(*corev1.Pod).DeepCopy()
	if pod.Spec.NodeName != "" {
		return apierrors.NewConflict(resource.GroupResource(), pod.Name, fmt.Errorf("pod is assigned already"))
	}
	pod.Spec.NodeName = target.Target.Name
	for key, value := range target.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
	}
	c.done.Add(1)
	return c.client.Tracker().Update(resource, pod, target.Namespace)
}

// start runs a scheduler, until the test ends or the returned function is called.
func (c *cluster) start(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	shared := informers.NewSharedInformerFactory(c.client, 0)
	pods := shared.Core().V1().Pods().Informer()
	if c.pods != nil {
		pods = c.pods(pods)
	}
	state, err := gangs.NewFrom(c.groups, pods, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if c.network != nil {
		if err := state.WatchNetwork(c.network); err != nil {
			t.Fatal(err)
		}
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(strings.NewReplacer("PREEMPTION", strconv.FormatBool(c.preemption), "NETWORK", strconv.FormatBool(c.network != nil)).Replace(profileYAML)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var known State = state
	if c.between != nil {
		known = c.between(state)
	}
	built, err := kubescheduler.New(ctx, c.client, shared, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		kubescheduler.WithProfiles(object.(*config.KubeSchedulerConfiguration).Profiles...),
		kubescheduler.WithPodInitialBackoffSeconds(1), kubescheduler.WithPodMaxBackoffSeconds(1),
		kubescheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{Name: c.remember(Factory(known)), defaultprebind.Name: defaultprebind.New}))
	if err != nil {
		t.Fatal(err)
	}
	for name, profile := range built.Profiles {
		built.Profiles[name] = frameworkext.Wrap(profile, []fwk.Plugin{c.plugin}, nil)
	}
	if err := frameworkext.Apply(built, Seams(state)); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { state.Run(ctx) })
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	if err := built.WaitForHandlersSync(ctx); err != nil {
		t.Fatal(err)
	}
	running.Go(func() { built.Run(ctx) })
	c.state, c.scheduler = state, built
	stopped := sync.OnceFunc(func() { cancel(); running.Wait(); shared.Shutdown() })
	t.Cleanup(stopped)
	return stopped
}

// remember notes the plugin that a factory makes.
func (c *cluster) remember(factory frameworkruntime.PluginFactory) frameworkruntime.PluginFactory {
	return func(ctx context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		plugin, err := factory(ctx, object, handle)
		if err == nil {
			c.plugin = plugin.(*Plugin)
		}
		return plugin, err
	}
}

func (c *cluster) group(name string, minimum int32) *schedulingsigsv1alpha1.PodGroup {
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	group.Spec.MinMember = minimum
	return group
}

// create makes a gang with members of one CPU each.
func (c *cluster) create(t testing.TB, name string, minimum int32, members int) {
	t.Helper()
	c.groups.Add(c.group(name, minimum))
	for i := range members {
		c.createPod(t, fmt.Sprintf("%s-%d", name, i), name)
	}
}

func (c *cluster) createPod(t testing.TB, name, group string) { c.createWith(t, name, group, nil) }

func (c *cluster) createGated(t testing.TB, name, group string) {
	c.createWith(t, name, group, []corev1.PodSchedulingGate{{Name: "test"}})
}

func (c *cluster) createWith(t testing.TB, name, group string, gates []corev1.PodSchedulingGate) {
	t.Helper()
	priority := c.priority
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Now()},
		Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", Priority: &priority, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		}}},
	}
	pod.Spec.SchedulingGates = gates
	if group != "" {
		pod.Labels = map[string]string{extension.LabelPodGroup: group}
	}
	if _, err := c.client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// bound counts the bound pods by gang.
func (c *cluster) bound(t testing.TB) map[string]int {
	t.Helper()
	list, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for i := range list.Items {
		if pod := &list.Items[i]; pod.Spec.NodeName != "" {
			counts[pod.Labels[extension.LabelPodGroup]]++
		}
	}
	return counts
}

func total(counts map[string]int) (sum int) {
	for _, count := range counts {
		sum += count
	}
	return sum
}

func (c *cluster) remove(t testing.TB, name string) {
	t.Helper()
	if err := c.client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// release removes the gate of a pod.
func (c *cluster) release(t testing.TB, name string) {
	t.Helper()
	pod, err := c.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Spec.SchedulingGates, pod.ResourceVersion = nil, "2" // the scheduler drops updates without a new version
	if _, err := c.client.CoreV1().Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// bindElsewhere binds a pod as another scheduler would.
func (c *cluster) bindElsewhere(t testing.TB, name string) {
	t.Helper()
	target := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Target: corev1.ObjectReference{Name: "n0"}}
	if err := c.bind(target); err != nil {
		t.Fatal(err)
	}
}
