package live

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	sigsjson "sigs.k8s.io/json"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/kueueview"
)

// notAdmitted is what is unknown where Workloads cannot be read.
const notAdmitted = "what Kueue waits for is unknown"

// whyNotAdmitted adds to an answer about a gated pod what Kueue waits for, where a gate is one of Kueue. Other pods cost no request.
func (s *Source) whyNotAdmitted(ctx context.Context, c *clients, answer *diagnosticsv1alpha1.PodExplanation) {
	status := &answer.Status
	if status.Code != string(finding.SchedulingGated) || answer.Spec.PodName == "" || !strings.Contains(status.Summary, kueueview.GatePrefix) {
		return
	}
	pod := &corev1.Pod{}
	err := c.get(ctx, "pods", answer.Namespace, answer.Spec.PodName, pod)
	own, others := kueueview.GatesOf(pod)
	if err == nil && own == 0 {
		return // they have just been removed
	}
	var in kueueview.Input
	var gaps gaps
	if err == nil {
		in, err = c.kueue(ctx, kueueview.Pod, &pod.ObjectMeta, true, &gaps)
	}
	if err != nil {
		status.Incomplete = append(status.Incomplete, text(err, notAdmitted))
		return
	}
	status.Incomplete = append(status.Incomplete, gaps.all()...)
	trace := &kueueview.Trace{}
	verdict := kueueview.Decide(in, trace)
	note := trace.Finding(verdict)
	status.Findings = append(status.Findings, note)
	if status.Summary += "; " + note.Message; others == 0 {
		status.Code, status.Summary = note.Code, "gated: "+note.Message
	}
}

// kueue reads what Kueue and its objects say about a pod or a Job. A cluster without Kueue is no error. A LocalQueue that cannot be read is a gap.
func (c *clients) kueue(ctx context.Context, kind string, object *metav1.ObjectMeta, withheld bool, gaps *gaps) (kueueview.Input, error) {
	in := kueueview.Input{Kind: kind, Withheld: withheld, Queue: object.Labels[kueueview.QueueLabel]}
	client, workloads, err := c.workloads(ctx, object.Namespace)
	if hasCode(err, finding.NotInstalled) {
		return in, nil
	}
	if err != nil {
		return in, err
	}
	in.Served, in.Workload = true, kueueview.WorkloadOf(workloads, object)
	if in.Workload == nil || in.Workload.Status.Admission != nil {
		return in, nil
	}
	queue := kueueview.LocalQueue{}
	r := request{verb: "get", group: kueueview.Group, resource: "localqueues", namespace: object.Namespace, name: in.Workload.Spec.QueueName}
	if err := getJSON(ctx, client, r, &queue); err != nil && !hasCode(err, finding.NotFound) { // Kueue itself says where there is none
		gaps.add(text(err, "which ClusterQueue it belongs to is unknown"))
	}
	in.ClusterQueue = queue.Spec.ClusterQueue
	return in, nil
}

// workloads lists the Workloads of a namespace in the newest version that is served, and returns the client of this version.
func (c *clients) workloads(ctx context.Context, namespace string) (client rest.Interface, found []kueueview.Workload, err error) {
	for _, version := range kueueview.Versions() {
		if client, err = c.group(ownGroup(schema.GroupVersion{Group: kueueview.Group, Version: version})); err != nil {
			return nil, nil, err
		}
		r := request{verb: "list", group: kueueview.Group, resource: "workloads", namespace: namespace}
		found, err = list(ctx, client, r, selection{namespace: namespace}, splitJSON, func(raw []byte, into *kueueview.Workload) error {
			return sigsjson.UnmarshalCaseSensitivePreserveInts(raw, into)
		})
		if !hasCode(err, finding.NotInstalled) {
			return client, found, err
		}
	}
	return client, nil, err
}
