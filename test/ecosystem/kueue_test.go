package ecosystem

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/kueueview"
	"koordinator.sh/koord/test/sandboxtest"
)

// kueue issues its own certificate, because it reads that of its metrics from a fixed directory of its image otherwise. Its aggregated API
// for pending workloads is left out: it writes into such a directory, too.
var kueue = controller{name: "kueue", ownCertificate: true, args: []string{"--feature-gates=VisibilityOnDemand=false"}}

const (
	clusterQueue = "batch"
	localQueue   = "jobs"
	elasticQuota = "research"
)

// queues are a ClusterQueue over batch resources, and a LocalQueue of it in a namespace.
const queues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any-node}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [kubernetes.io/batch-cpu, kubernetes.io/batch-memory]
    flavors:
    - name: any-node
      resources:
      - {name: kubernetes.io/batch-cpu, nominalQuota: 4k}
      - {name: kubernetes.io/batch-memory, nominalQuota: 64Gi}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {namespace: NAMESPACE, name: jobs}
spec: {clusterQueue: batch}
`

// TestKueueBesideElasticQuota has Kueue admit jobs by a ClusterQueue, and koord-scheduler schedule their pods by an ElasticQuota. Each holds
// back what the other has room for, and the explanation names the one that does.
func TestKueueBesideElasticQuota(t *testing.T) {
	r := newRig(t, kueue)
	namespace := r.space(t, "ml")
	for _, object := range parse(t, []byte(strings.ReplaceAll(queues, "NAMESPACE", namespace))) {
		r.create(t, object)
	}
	r.create(t, &schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: elasticQuota},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Min: batch("1"), Max: batch("2")},
	})

	runs := newJob(namespace, "both-have-room", "1")
	r.create(t, runs)
	r.awaitRunning(t, runs, 1)

	byQuota := newJob(namespace, "no-quota", "1500m") // 2.5 of 4 cores of the ClusterQueue, of 2 of the ElasticQuota
	r.create(t, byQuota)
	pod := r.awaitPod(t, byQuota)
	r.checkPod(t, pod, diagnosticsv1alpha1.PodUnschedulable, finding.QuotaMaxExceeded, elasticQuota)
	r.checkJob(t, byQuota, diagnosticsv1alpha1.JobWaiting, "ElasticQuota", finding.QuotaMaxExceeded)

	byKueue := newJob(namespace, "no-room-in-queue", "1750m") // 4.25 of 4 cores
	r.create(t, byKueue)
	r.checkJob(t, byKueue, diagnosticsv1alpha1.JobSuspended, "Kueue", finding.KueueNotAdmitted)
	gated := newBatchPod(namespace, "gated", "1750m")
	gated.Labels[kueueview.QueueLabel] = localQueue
	r.create(t, gated)
	r.checkPod(t, gated, diagnosticsv1alpha1.PodGated, finding.KueueNotAdmitted, fmt.Sprintf(`ClusterQueue %q`, clusterQueue))

	// A profile would make batch-cpu of it, in pods that are never created.
	uncovered := newJob(namespace, "names-cpu", "1")
	uncovered.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
	r.create(t, uncovered)

	r.raise(t, "20k")
	r.checkPod(t, gated, diagnosticsv1alpha1.PodUnschedulable, finding.QuotaMaxExceeded, elasticQuota)
	r.checkPod(t, r.awaitPod(t, byKueue), diagnosticsv1alpha1.PodUnschedulable, finding.QuotaMaxExceeded, elasticQuota)
	r.checkJob(t, byKueue, diagnosticsv1alpha1.JobWaiting, "ElasticQuota", finding.QuotaMaxExceeded)

	quota := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: elasticQuota}}
	sandboxtest.Eventually(t, patience, func() error {
		if err := r.client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		quota.Spec.Max = batch("20")
		return r.client.Update(t.Context(), quota)
	})
	for _, job := range []*batchv1.Job{runs, byQuota, byKueue} {
		r.awaitRunning(t, job, 1)
		r.checkJob(t, job, diagnosticsv1alpha1.JobRunning, "", "")
	}
	r.checkJob(t, uncovered, diagnosticsv1alpha1.JobSuspended, "Kueue", finding.KueueNotAdmitted)
}

// raise sets the quota of the ClusterQueue.
func (r *rig) raise(t *testing.T, amount string) {
	t.Helper()
	queue := &unstructured.Unstructured{}
	queue.SetAPIVersion("kueue.x-k8s.io/v1beta2")
	queue.SetKind("ClusterQueue")
	queue.SetName(clusterQueue)
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":%q}]`, amount)
	if err := r.client.Patch(t.Context(), queue, ctrlclient.RawPatch("application/json-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// batch are batch resources with some cores.
func batch(cores string) corev1.ResourceList {
	cpu := resource.MustParse(cores)
	return corev1.ResourceList{
		extension.BatchCPU: *resource.NewQuantity(cpu.MilliValue(), resource.DecimalSI), extension.BatchMemory: resource.MustParse("32Gi"),
	}
}

// newBatchPod is a batch pod of the ElasticQuota. It names batch resources itself: Kueue counts what the template of a Job requests, which a
// ClusterColocationProfile does not change.
func newBatchPod(namespace, name, cores string) *corev1.Pod {
	requests := batch(cores)
	requests[extension.BatchMemory] = resource.MustParse("64Mi")
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
			extension.LabelPodQoS: string(extension.QoSBE), extension.LabelQuotaName: elasticQuota,
		}},
		Spec: corev1.PodSpec{
			SchedulerName: "koord-scheduler", PriorityClassName: "koord-batch", RestartPolicy: corev1.RestartPolicyNever,
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests},
			}},
		},
	}
}

// newJob is a Job of one such pod, in the queue of Kueue.
func newJob(namespace, name, cores string) *batchv1.Job {
	pod := newBatchPod(namespace, name, cores)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{kueueview.QueueLabel: localQueue}},
		Spec: batchv1.JobSpec{
			Suspend: new(true), Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
		},
	}
}

// pods are those of a Job.
func (r *rig) pods(t *testing.T, job *batchv1.Job) ([]corev1.Pod, error) {
	t.Helper()
	var list corev1.PodList
	err := r.client.List(t.Context(), &list, ctrlclient.InNamespace(job.Namespace), ctrlclient.MatchingLabels{batchv1.JobNameLabel: job.Name})
	return list.Items, err
}

// awaitPod waits until Kueue resumes a Job, and returns its pod.
func (r *rig) awaitPod(t *testing.T, job *batchv1.Job) *corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	sandboxtest.Eventually(t, patience, func() (err error) {
		if pods, err = r.pods(t, job); err == nil && len(pods) == 0 {
			err = errors.Join(fmt.Errorf("job %s has no pod", job.Name), r.describe(t, job))
		}
		return err
	})
	return &pods[0]
}

// describe is what the Workloads of a namespace say, as an error.
func (r *rig) describe(t *testing.T, job *batchv1.Job) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("kueue.x-k8s.io/v1beta2")
	list.SetKind("WorkloadList")
	if err := r.client.List(t.Context(), list, ctrlclient.InNamespace(job.Namespace)); err != nil {
		return err
	}
	var all error
	for i := range list.Items {
		all = errors.Join(all, fmt.Errorf("%s: %v", list.Items[i].GetName(), list.Items[i].Object["status"]))
	}
	return all
}

// awaitRunning waits until pods of a Job run.
func (r *rig) awaitRunning(t *testing.T, job *batchv1.Job, want int) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := r.pods(t, job)
		running := 0
		for i := range pods {
			if pods[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if err == nil && running != want {
			err = fmt.Errorf("%d of %d pods of job %s run, want %d", running, len(pods), job.Name, want)
		}
		return err
	})
}

// checkPod waits until a pod is explained by a code, and by a text in the summary or a reason.
func (r *rig) checkPod(t *testing.T, pod *corev1.Pod, verdict diagnosticsv1alpha1.PodVerdict, code finding.Code, text string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		var explanation diagnosticsv1alpha1.PodExplanation
		r.ask(t, &explanation, "explain", "pod", pod.Name, "-n", pod.Namespace)
		status := explanation.Status
		said := status.Summary
		for _, group := range status.Groups {
			said += "\n" + group.Message
		}
		if status.Verdict != verdict || status.Code != string(code) || !strings.Contains(said, text) || len(status.Incomplete) > 0 {
			return fmt.Errorf("pod %s is %s with %q: %s, incomplete %v; want %s with %s naming %s", pod.Name, status.Verdict, status.Code, said,
				status.Incomplete, verdict, code, text)
		}
		return nil
	})
}

// checkJob waits until a Job is explained by what holds it and a code.
func (r *rig) checkJob(t *testing.T, job *batchv1.Job, state diagnosticsv1alpha1.JobState, heldBy string, code finding.Code) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		var got diagnosticsv1alpha1.JobExplanation
		r.ask(t, &got, "explain", "job", job.Name, "-n", job.Namespace)
		queue := got.Queue != nil && got.Queue.ClusterQueue == clusterQueue && got.Queue.Admitted == (heldBy != "Kueue")
		if got.State != state || got.HeldBy != heldBy || got.Code != string(code) || !queue || len(got.Incomplete) > 0 {
			return fmt.Errorf("job %s is %s, held by %q, with %q: %s, queue %+v, incomplete %v; want %s, held by %q, with %q", job.Name, got.State, got.HeldBy,
				got.Code, got.Summary, got.Queue, got.Incomplete, state, heldBy, code)
		}
		return nil
	})
}
