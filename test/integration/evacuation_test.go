package integration

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/drain"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// migratesOnEviction runs a manager that has evicted pods migrated.
func migratesOnEviction(t *testing.T) {
	t.Helper()
	allow(t, map[string]any{"admission": map[string]any{"migrateOnEviction": true}})
	backToTheSandbox(t)
	suspend(t)
	manager := startManager(t, managerFile(), "--migrate-on-eviction=true")
	vacate(t)
	awaitLeader(t, manager.webhooks)
	sandboxtest.Eventually(t, patience, func() error {
		asked, err := asksAboutEvictions(t)
		if err == nil && !asked {
			err = errors.New("the API server does not ask about evictions")
		}
		return err
	})
}

// TestADrainMigratesPodsThatAskForIt evicts a pod by the code of kubectl drain, as an administrator. The sandbox's descheduler moves it.
func TestADrainMigratesPodsThatAskForIt(t *testing.T) {
	migratesOnEviction(t)
	const namespace = "evacuated"
	pods := webDeployment(t, namespace, 2, func(spec *appsv1.DeploymentSpec) {
		spec.Template.Annotations = map[string]string{extension.AnnotationMigrateOnEviction: "Required"}
	})
	least := sandboxtest.LeastReady(t, client, namespace, metav1.ListOptions{})
	var out bytes.Buffer
	helper := drain.Helper{Ctx: t.Context(), Client: client, Out: &out, ErrOut: &out, GracePeriodSeconds: -1, Timeout: 2 * patience}
	if err := helper.DeleteOrEvictPods(pods[:1]); err != nil {
		t.Fatalf("drain: %v\n%s", err, out.String())
	}
	job := jobOfPod(t, &pods[0])
	moved(t, job, &pods[0])
	if job.Annotations[extension.AnnotationEvictTrigger] != "Eviction" {
		t.Errorf("the job has annotations %v, want one for an eviction", job.Annotations)
	}
	if got := least(); got < 2 {
		t.Errorf("at least %d pods were ready at any time, want 2", got)
	}
}

// jobOfPod waits until the job of a pod that left has succeeded.
func jobOfPod(t *testing.T, pod *corev1.Pod) *schedulingv1alpha1.PodMigrationJob {
	t.Helper()
	reader, err := ctrlclient.New(administrator(t), ctrlclient.Options{Scheme: migrationScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	var found *schedulingv1alpha1.PodMigrationJob
	sandboxtest.Eventually(t, patience, func() error {
		var jobs schedulingv1alpha1.PodMigrationJobList
		if err := reader.List(t.Context(), &jobs); err != nil {
			return err
		}
		for i := range jobs.Items {
			job := &jobs.Items[i]
			if ref := job.Spec.PodRef; ref != nil && ref.UID == pod.UID {
				found = job
				if job.Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
					return fmt.Errorf("job %s: %+v", job.Name, job.Status)
				}
				return nil
			}
		}
		return errors.New("the pod has no job")
	})
	return found
}

// asksAboutEvictions reports whether the API server asks about evictions by users.
func asksAboutEvictions(t *testing.T) (bool, error) {
	t.Helper()
	configuration, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(configuration.Webhooks, func(webhook admissionregistrationv1.ValidatingWebhook) bool {
		return webhook.Name == "migrate-on-eviction.koordinator.sh"
	}), nil
}
