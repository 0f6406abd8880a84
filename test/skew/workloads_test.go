package skew

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/test/sandboxtest"
)

// newPod requests CPU.
func newPod(namespace, name, cpu string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", TerminationGracePeriodSeconds: new(int64(1)), Containers: []corev1.Container{{
			Name: "main", Image: "registry.k8s.io/pause:3.10",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

// awaitRunning waits until a pod runs.
func (r *rig) awaitRunning(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		if err := r.client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod %s is %s: %+v", pod.Name, pod.Status.Phase, pod.Status.Conditions)
		}
		return nil
	})
}

// checkProfile has a profile be applied: by a MutatingAdmissionPolicy where the API server serves version 1, by the webhook elsewhere.
func (r *rig) checkProfile(t *testing.T) {
	namespace := r.space(t, "profile")
	r.create(t, &configv1alpha1.ClusterColocationProfile{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: configv1alpha1.ClusterColocationProfileSpec{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			QoSClass:          "BE", PriorityClassName: "koord-batch", SchedulerName: "koord-scheduler",
		},
	})
	var pod *corev1.Pod
	sandboxtest.Eventually(t, patience, func() error { // a profile takes effect some time after it was created
		pod = newPod(namespace, "batch", "1", nil)
		pod.Spec.SchedulerName = ""
		if err := r.client.Create(t.Context(), pod, ctrlclient.DryRunAll); err != nil {
			return err
		}
		requests := pod.Spec.Containers[0].Resources.Requests
		if cpu := requests[extension.BatchCPU]; cpu.Value() != 1000 || pod.Labels[extension.LabelPodQoS] != "BE" || pod.Spec.SchedulerName != "koord-scheduler" {
			return fmt.Errorf("the pod has labels %v, requests %v and scheduler %s", pod.Labels, requests, pod.Spec.SchedulerName)
		}
		return nil
	})
	pod = newPod(namespace, "batch", "1", nil)
	pod.Spec.SchedulerName = ""
	r.create(t, pod)
	r.awaitRunning(t, pod)

	sandboxtest.Eventually(t, patience, func() error {
		err := r.client.Get(t.Context(), ctrlclient.ObjectKey{Name: policy.Name}, &admissionregistrationv1.MutatingAdmissionPolicy{})
		switch served := r.minor >= 36; {
		case served && err != nil:
			return fmt.Errorf("the API server does not apply the profile by itself: %w", err)
		case !served && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err):
			t.Fatalf("Kubernetes %s serves MutatingAdmissionPolicy v1: %v", r.server, err)
		}
		return nil
	})
}

// checkQuota has a quota be validated, take one pod and refuse the next.
func (r *rig) checkQuota(t *testing.T) {
	namespace := r.space(t, "quota")
	cpu := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
	quota := &schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "skew"},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Min: cpu("4"), Max: cpu("2")},
	}
	if err := r.client.Create(t.Context(), quota); err == nil {
		t.Error("a quota with a min above its max is admitted")
	}
	quota.Spec.Min = cpu("1")
	r.create(t, quota)
	labels := map[string]string{extension.LabelQuotaName: quota.Name}
	first, second := newPod(namespace, "first", "1500m", labels), newPod(namespace, "second", "1500m", labels)
	r.create(t, first)
	r.awaitRunning(t, first)
	r.create(t, second)
	sandboxtest.Eventually(t, patience, func() error {
		var explanation diagnosticsv1alpha1.PodExplanation
		r.ask(t, &explanation, "explain", "pod", second.Name, "-n", namespace)
		if status := explanation.Status; status.Verdict != diagnosticsv1alpha1.PodUnschedulable || status.Code != string(finding.QuotaMaxExceeded) {
			return fmt.Errorf("the second pod is %s with %q: %s; want Unschedulable with %s", status.Verdict, status.Code, status.Summary, finding.QuotaMaxExceeded)
		}
		return nil
	})
}

// checkMigration has koord-descheduler move a pod of a Deployment: it reserves, evicts, and the pod's replacement takes the reservation.
func (r *rig) checkMigration(t *testing.T) {
	namespace := r.space(t, "migration")
	labels := map[string]string{"app": "web"}
	pod := newPod(namespace, "web", "1", labels)
	r.create(t, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod.Spec},
		},
	})
	var pods corev1.PodList
	sandboxtest.Eventually(t, patience, func() error {
		if err := r.client.List(t.Context(), &pods, ctrlclient.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range pods.Items {
			if pods.Items[i].Status.Phase != corev1.PodRunning {
				return fmt.Errorf("pod %s is %s", pods.Items[i].Name, pods.Items[i].Status.Phase)
			}
		}
		if len(pods.Items) != 2 {
			return fmt.Errorf("%d pods, want 2", len(pods.Items))
		}
		return nil
	})
	from := &pods.Items[0]
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: "skew"},
		Spec: schedulingv1alpha1.PodMigrationJobSpec{
			TTL: &metav1.Duration{Duration: 2 * time.Minute}, PodRef: &corev1.ObjectReference{Namespace: namespace, Name: from.Name},
		},
	}
	r.create(t, job)
	sandboxtest.Eventually(t, 2*patience, func() error {
		if err := r.client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if job.Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
			status, _ := json.Marshal(job.Status) // plain data
			return fmt.Errorf("the job is %q, want Succeeded: %s", job.Status.Phase, status)
		}
		return nil
	})
	if job.Status.NodeName == "" || job.Status.NodeName == from.Spec.NodeName {
		t.Errorf("the pod was moved from %s to %s", from.Spec.NodeName, job.Status.NodeName)
	}
}
