package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/pki"
)

// componentLabel names the component that a pod of the system is.
const componentLabel = "app.kubernetes.io/name"

// AwaitSystemPods waits until the system's components have been ready in pods since a time: what kubelet said in an earlier run
// does not count.
func (c *Cluster) AwaitSystemPods(ctx context.Context, since time.Time, detail func(string)) error {
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		pods, err := c.client.CoreV1().Pods(pki.Namespace).List(ctx, metav1.ListOptions{})
		why := "failed to list pods"
		if err == nil {
			if why = missingPods(pods.Items, since); why == "" {
				return nil
			}
			detail(why)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the pods of Koordinator: %s: %w", why, ctx.Err())
		case <-tick.C:
		}
	}
}

// missingPods says which components are not ready in any pod, and why; "" when all are.
func missingPods(pods []corev1.Pod, since time.Time) string {
	var missing []string
	for _, name := range []string{component.Manager, component.Scheduler, component.Descheduler, component.Koordlet} {
		why := "has no pod"
		for i := range pods {
			if pods[i].Labels[componentLabel] != name || pods[i].DeletionTimestamp != nil {
				continue
			}
			if why = podNotReady(&pods[i], since); why == "" {
				break
			}
		}
		if why != "" {
			missing = append(missing, name+" "+why)
		}
	}
	return strings.Join(missing, ", ")
}

func podNotReady(pod *corev1.Pod, since time.Time) string {
	if len(pod.Status.ContainerStatuses) == 0 {
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Message != "" })
		if i < 0 {
			return "has not started"
		}
		return "has not started: " + pod.Status.Conditions[i].Message
	}
	for i := range pod.Status.ContainerStatuses {
		if why := containerNotReady(&pod.Status.ContainerStatuses[i], since); why != "" {
			return why
		}
	}
	return ""
}

func containerNotReady(status *corev1.ContainerStatus, since time.Time) string {
	switch {
	case status.State.Waiting != nil:
		return strings.TrimSuffix("is waiting: "+status.State.Waiting.Reason+": "+status.State.Waiting.Message, ": ")
	case status.State.Running == nil:
		return "has terminated"
	case status.State.Running.StartedAt.Time.Before(since.Truncate(time.Second)):
		return "has not restarted"
	case !status.Ready:
		return "is not ready"
	}
	return ""
}
