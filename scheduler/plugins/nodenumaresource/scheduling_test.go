package nodenumaresource

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/state/topologies"
	"koordinator.sh/koord/test/informertest"
)

const profileYAML = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    multiPoint: {enabled: [{name: NodeNUMAResource}]}
    bind: {enabled: [{name: DefaultPreBind}, {name: DefaultBinder}], disabled: [{name: "*"}]}
`

// cluster is an API server in memory that binds pods as the real one does: with the annotations of the Binding.
func cluster(t *testing.T, nodes int) *fake.Clientset {
	t.Helper()
	client := informertest.NewClientset()
	for i := range nodes {
		if err := client.Tracker().Add(newNode(fmt.Sprintf("n%d", i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		created, ok := action.(clienttesting.CreateAction)
		if !ok || action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := created.GetObject().(*corev1.Binding)
		object, err := client.Tracker().Get(pods, binding.Namespace, binding.Name)
		if err != nil {
			return true, nil, err
		}
		bound := object.(*corev1.Pod).DeepCopy()
		bound.Spec.NodeName = binding.Target.Name
		for key, value := range binding.Annotations {
			metav1.SetMetaDataAnnotation(&bound.ObjectMeta, key, value)
		}
		return true, binding, client.Tracker().Update(pods, bound, binding.Namespace)
	})
	return client
}

// run schedules until the test ends.
func run(t *testing.T, client *fake.Clientset, nodes int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	shared := informers.NewSharedInformerFactory(client, 0)
	core := shared.Core().V1()
	state, err := topologies.NewFrom(&cache.ListWatch{}, core.Pods().Informer(), core.Nodes().Informer())
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		if err := state.Informer().GetIndexer().Add(newReport(fmt.Sprintf("n%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(profileYAML), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	scheduler, err := kubescheduler.New(ctx, client, shared, nil, func(string) events.EventRecorderLogger { return events.NewFakeRecorder(1000) },
		kubescheduler.WithProfiles(object.(*config.KubeSchedulerConfiguration).Profiles...), kubescheduler.WithPodInitialBackoffSeconds(1),
		kubescheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{Name: Factory(state, NewHooks()), defaultprebind.Name: defaultprebind.New}))
	if err != nil {
		t.Fatal(err)
	}
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	if err := scheduler.WaitForHandlersSync(ctx); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { scheduler.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done; shared.Shutdown() })
}

// TestNoCPUHasTwoOwners runs a real scheduler over more pods than there are CPUs, deletes some that are bound, and looks
// at every state in between.
func TestNoCPUHasTwoOwners(t *testing.T) {
	const nodes, count = 3, 18
	client := cluster(t, nodes)
	run(t, client, nodes)
	ctx := t.Context()
	for i := range count { // 2 CPUs each, 24 in all: six pods have to wait
		pod := newPod(fmt.Sprintf("p%d", i), lsr, "2")
		pod.Spec.SchedulerName = "koord-scheduler"
		pod.Spec.Containers[0].Resources.Requests["memory"] = resource.MustParse("16Mi")
		if i%3 == 0 {
			pod.Annotations[alignment] = singleZone
		}
		if _, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bound := func() (names []string) {
		list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		owned := map[string]cpuset.CPUSet{}
		for i := range list.Items {
			pod := &list.Items[i]
			if pod.Spec.NodeName == "" {
				continue
			}
			names = append(names, pod.Name)
			held, found := numa.Held(pod)
			if !found || held.CPUs.Len() != 2 || held.CPUs.Meets(owned[pod.Spec.NodeName]) {
				t.Fatalf("pod %s on %s owns %q, others own %s", pod.Name, pod.Spec.NodeName, pod.Annotations[extension.AnnotationResourceStatus], owned[pod.Spec.NodeName])
			}
			owned[pod.Spec.NodeName] = owned[pod.Spec.NodeName].Union(held.CPUs)
		}
		return names
	}
	eventually := func(what string, want int) (names []string) {
		t.Helper()
		err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			names = bound()
			return len(names) == want, nil
		})
		if err != nil {
			t.Fatalf("%s: %d pods are bound, want %d", what, len(names), want)
		}
		return names
	}
	first := eventually("all CPUs are owned", 12)
	for _, name := range first[:4] {
		if err := client.CoreV1().Pods("default").Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually("those that waited took over", 12)
}
