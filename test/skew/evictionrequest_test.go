package skew

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/descheduler/migration"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestEvictionRequestsOfKubernetes has the API servers that know EvictionRequest validate those of koord-descheduler.
func TestEvictionRequestsOfKubernetes(t *testing.T) {
	for _, directory := range directories(t) {
		server := filepath.Base(directory)
		if parsed, err := version.ParseGeneric(server); err != nil || parsed.Minor() < 37 {
			continue
		}
		t.Run(server, func(t *testing.T) {
			config := startAPIServer(t, directory, "--feature-gates=EvictionRequestAPI=true", "--runtime-config=lifecycle.k8s.io/v1alpha1=true")
			client, objects := startMigrations(t, config)
			checkRequests(t, client, objects.Resource(decision.EvictionRequests).Namespace(metav1.NamespaceDefault))
		})
	}
}

// TestWithoutEvictionRequestsTheEvictionAPIIsUsed: no version serves EvictionRequest without the feature gate.
func TestWithoutEvictionRequestsTheEvictionAPIIsUsed(t *testing.T) {
	for _, directory := range directories(t) {
		t.Run(filepath.Base(directory), func(t *testing.T) {
			client, _ := startMigrations(t, startAPIServer(t, directory))
			pod, job := startRequest(t, client)
			sandboxtest.Eventually(t, patience, func() error {
				if err := client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(job), job); err != nil {
					return err
				}
				recorded := decision.Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEvictionRequest)
				if recorded == nil || recorded.Reason != schedulingv1alpha1.PodMigrationJobReasonRequestUnavailable {
					return fmt.Errorf("the job is %+v, want a condition that EvictionRequest is unavailable", job.Status)
				}
				err := client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(pod), pod)
				if err == nil && pod.DeletionTimestamp == nil {
					return fmt.Errorf("the pod is not evicted; the job is %+v", job.Status)
				}
				return ctrlclient.IgnoreNotFound(err)
			})
		})
	}
}

// startRequest creates a pod with the policy EvictionRequest, and a job that evicts it.
func startRequest(t *testing.T, client ctrlclient.Client) (*corev1.Pod, *schedulingv1alpha1.PodMigrationJob) {
	t.Helper()
	pod := newPod(metav1.NamespaceDefault, "web", "1", map[string]string{extension.LabelPodEvictPolicy: string(decision.RequestEviction)})
	pod.Spec.NodeName = "nowhere"
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: "request", Annotations: map[string]string{extension.AnnotationPassedArbitration: "true"}},
		Spec: schedulingv1alpha1.PodMigrationJobSpec{
			Mode: schedulingv1alpha1.PodMigrationJobModeEvictionDirectly, PodRef: &corev1.ObjectReference{Namespace: pod.Namespace, Name: pod.Name},
		},
	}
	if err := errors.Join(client.Create(t.Context(), pod), client.Create(t.Context(), job)); err != nil {
		t.Fatal(err)
	}
	return pod, job
}

// checkRequests has a migration request the eviction of its pod, and withdraw the request when it is aborted.
func checkRequests(t *testing.T, client ctrlclient.Client, requests dynamic.ResourceInterface) {
	_, job := startRequest(t, client)
	name := decision.EvictionRequestName(job)
	await := func(phase schedulingv1alpha1.PodMigrationJobPhase, intent string) {
		t.Helper()
		sandboxtest.Eventually(t, patience, func() error {
			if err := client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(job), job); err != nil {
				return err
			}
			request, err := requests.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("%w; the job is %+v", err, job.Status)
			}
			got, _, _ := unstructured.NestedString(request.Object, "spec", "intent") // another value fails below
			recorded := decision.Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEvictionRequest)
			if got != intent || job.Status.Phase != phase || recorded == nil || recorded.Reason != schedulingv1alpha1.PodMigrationJobReasonRequested {
				return fmt.Errorf("the request has intent %s, the job is %+v; want %s and %s", got, job.Status, intent, phase)
			}
			return nil
		})
	}
	await(schedulingv1alpha1.PodMigrationJobRunning, "Eviction")
	patch := []byte(`{"metadata":{"annotations":{"` + extension.AnnotationAbortMigration + `":"true"}}}`)
	if err := client.Patch(t.Context(), job, ctrlclient.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
	await(schedulingv1alpha1.PodMigrationJobAborted, "Withdrawn")
}

// startMigrations runs the migration controller on an API server for the time of the test.
func startMigrations(t *testing.T, config *rest.Config) (ctrlclient.Client, dynamic.Interface) {
	t.Helper()
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"podmigrationjobs", "reservations"} {
		defineResource(t, objects, name)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), schedulingv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	retention := func() decision.Retention { return decision.RetentionOf() }
	if err := migration.Add(t.Context(), mgr, migration.Options{Args: decision.DefaultArgs, Retention: retention, Client: kube, Dynamic: objects}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background()) // that of the test ends before its cleanup
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	client, err := ctrlclient.New(config, ctrlclient.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return client, objects
}

// defineResource creates a CustomResourceDefinition of the chart, and waits until it is served.
func defineResource(t *testing.T, objects dynamic.Interface, resource string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "koordinator", "crds", "scheduling.koordinator.sh_"+resource+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &definition.Object); err != nil {
		t.Fatal(err)
	}
	definitions := schedulingv1alpha1.GroupVersion.WithResource(resource)
	definitions.Group, definitions.Version, definitions.Resource = "apiextensions.k8s.io", "v1", "customresourcedefinitions"
	if _, err := objects.Resource(definitions).Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		_, err := objects.Resource(schedulingv1alpha1.GroupVersion.WithResource(resource)).List(t.Context(), metav1.ListOptions{})
		return err
	})
}
