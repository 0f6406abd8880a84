package scheduleexplanations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/scheduler/explain"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins/loadaware"
	"koordinator.sh/koord/scheduler/scheduleexplanations"
	"koordinator.sh/koord/scheduler/state"
	"koordinator.sh/koord/test/sandboxtest"
)

const profileYAML = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins: {multiPoint: {enabled: [{name: LoadAwareScheduling}]}}
`

// control is a bare control plane with the custom resources installed.
type control struct {
	client  kubernetes.Interface
	objects dynamic.ResourceInterface
	config  *rest.Config
}

func startControl(t *testing.T) control {
	t.Helper()
	home, err := os.MkdirTemp("", "koord-se-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a temporary directory
	sandbox, err := sandboxtest.New("se", home)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := sandbox.Up(t.Context(), "--kubernetes-only", "--nodes", "3", "--scenario", "none"); err != nil {
		t.Fatal(err)
	}
	client, dynamicClient, err := sandbox.Clients()
	if err != nil {
		t.Fatal(err)
	}
	config, err := sandbox.Config()
	if err != nil {
		t.Fatal(err)
	}
	return control{client: client, objects: dynamicClient.Resource(scheduleexplanations.Resource).Namespace("default"), config: config}
}

func profiles(t *testing.T) []config.KubeSchedulerProfile {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(profileYAML), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*config.KubeSchedulerConfiguration).Profiles
}

// startController runs a scheduler that schedules nothing, its engine, and the Controller.
func startController(t *testing.T, c control) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	factory := kubescheduler.NewInformerFactory(c.client, 0)
	cluster, err := state.NewCluster(c.config, factory.Core().V1().Pods().Informer())
	if err != nil {
		t.Fatal(err)
	}
	parts := part.Set{loadaware.Instance(cluster, time.Now)}
	built, err := kubescheduler.New(ctx, c.client, factory, nil, func(string) events.EventRecorderLogger { return events.NewFakeRecorder(1) },
		kubescheduler.WithProfiles(profiles(t)...), kubescheduler.WithFrameworkOutOfTreeRegistry(parts.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := explain.New(ctx, explain.Config{
		Client: c.client, Informers: factory, Cache: built.Cache, Profiles: built.Profiles, ProfileConfigs: profiles(t),
		Nominator: built.SchedulingQueue, Parts: parts, Identity: "test", Leader: func() bool { return true }, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	controller, err := scheduleexplanations.New(c.config, scheduleexplanations.Options{
		Pods: factory.Core().V1().Pods(), Nodes: factory.Core().V1().Nodes(), Client: c.client, Explainer: engine,
		SystemNamespace: "default", // answers of others leave names out
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	done := make(chan error)
	go func() { done <- controller.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		factory.Shutdown()
	})
}

// ask creates an object about a pod of the same name.
func (c control) ask(t *testing.T, name string, spec map[string]any) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": scheduleexplanations.Resource.GroupVersion().String(), "kind": "ScheduleExplanation",
		"metadata": map[string]any{"name": name}, "spec": spec,
	}}
	if _, err := c.objects.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (c control) get(ctx context.Context, name string) (*schedulingv1alpha1.ScheduleExplanation, error) {
	object, err := c.objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	explanation := &schedulingv1alpha1.ScheduleExplanation{}
	return explanation, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, explanation)
}

// until waits for a status.
func (c control) until(t *testing.T, name string, wrong func(schedulingv1alpha1.ScheduleExplanationStatus) bool) {
	t.Helper()
	sandboxtest.Eventually(t, 90*time.Second, func() error {
		explanation, err := c.get(t.Context(), name)
		if err == nil && wrong(explanation.Status) {
			err = fmt.Errorf("status %+v", explanation.Status)
		}
		return err
	})
}

func (c control) untilGone(t *testing.T, name string) {
	t.Helper()
	sandboxtest.Eventually(t, 90*time.Second, func() error {
		_, err := c.get(t.Context(), name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
}

func TestOnARealAPIServer(t *testing.T) {
	c := startControl(t)
	startController(t, c)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "big"},
		Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", Containers: []corev1.Container{{Name: "main", Image: "app", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1000")},
		}}}},
	}
	if _, err := c.client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.ask(t, "big", map[string]any{"questionObjectKey": "default/big"})
	c.ask(t, "short", map[string]any{"questionObjectKey": "default/big", "ttl": "5s"})
	c.ask(t, "template", map[string]any{"questionObjectTemplate": map[string]any{"spec": map[string]any{}}})
	c.until(t, "big", func(s schedulingv1alpha1.ScheduleExplanationStatus) bool {
		return s.Schedulable || !strings.Contains(s.FailedMessage, "0/3 nodes are available: 3 Insufficient cpu") || !strings.Contains(s.FailedMessage, "KOORD1901") ||
			s.LastUpdateTime == nil || len(s.DetailedExplanation) != 1 || len(s.DetailedExplanation[0].ScheduleExplanation.NodeFailedDetails[0].FailedNodes) != 3
	})
	c.until(t, "template", func(s schedulingv1alpha1.ScheduleExplanationStatus) bool {
		return !strings.Contains(s.FailedMessage, "questionObjectTemplate is not supported")
	})
	c.untilGone(t, "short")
	t.Run("a change of the cluster is taken over", func(t *testing.T) {
		patch := []byte(`{"metadata":{"labels":{"sched":"x"}},"spec":{"containers":[{"name":"main","image":"app:2"}]}}`)
		if _, err := c.client.CoreV1().Pods("default").Patch(t.Context(), "big", "application/strategic-merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		node := []byte(`{"status":{"allocatable":{"cpu":"2000"},"capacity":{"cpu":"2000"}}}`)
		nodes, err := c.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.client.CoreV1().Nodes().Patch(t.Context(), nodes.Items[0].Name, "application/merge-patch+json", node, metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		c.until(t, "big", func(s schedulingv1alpha1.ScheduleExplanationStatus) bool {
			return !s.Schedulable || s.FailedMessage != ""
		})
	})
	if err := c.client.CoreV1().Pods("default").Delete(t.Context(), "big", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	c.untilGone(t, "big")
}
