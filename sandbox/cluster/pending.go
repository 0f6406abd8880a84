package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/scenario"
)

// Bounds of the wait for a pod that later ones are to come after. A refusal counts once it has stood for a while: one of an
// earlier run of the sandbox may be on the pod, and the scheduler tries again when something changes.
const (
	refusalTimeout = 5 * time.Second
	bindingTimeout = 30 * time.Second
	// crowdingTimeout bounds the wait until all pods of a wave are bound to some of the nodes.
	crowdingTimeout = 2 * time.Minute
)

// awaitBound waits until a pod that the wave names has a node, or the scheduler has refused all of them, or has said nothing for
// long; it returns those that are pending then. A list that fails is asked for again.
func (c *Cluster) awaitBound(ctx context.Context, wave scenario.Wave, detail func(string)) ([]control.PendingPod, error) {
	if wave.AwaitBound == "" {
		return nil, nil
	}
	began := time.Now()
	options := metav1.ListOptions{LabelSelector: wave.AwaitBound}
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		pods, err := c.client.CoreV1().Pods(wave.Namespace).List(ctx, options)
		if err == nil {
			over, pending := judge(wave, pods.Items, time.Since(began))
			if over {
				return pending, nil
			}
			if len(pending) > 0 {
				detail("wait until pod is scheduled: " + pending[0].Namespace + "/" + pending[0].Name)
			}
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait until pods %q are scheduled: %w", wave.AwaitBound, ctx.Err()), err)
		case <-tick.C:
		}
	}
}

// judge says whether the wait for a wave's pods is over after some time, and which of them are pending: none where one is bound, or all
// are of a wave for some of the nodes.
func judge(wave scenario.Wave, pods []corev1.Pod, waited time.Duration) (over bool, pending []control.PendingPod) {
	refused, bound, all := 0, 0, len(wave.OnlyOn) > 0
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName != "" {
			if bound++; !all {
				return true, nil
			}
			continue
		}
		message := refusal(pod)
		if message != "" {
			refused++
		} else {
			message = "the scheduler has not processed it yet"
		}
		pending = append(pending, control.PendingPod{Namespace: pod.Namespace, Name: pod.Name, Message: message})
	}
	if len(pods) == 0 && waited >= bindingTimeout {
		return true, []control.PendingPod{{Namespace: wave.Namespace, Message: fmt.Sprintf("no pod with label %s was created", wave.AwaitBound)}}
	}
	if all {
		want := wave.Replicas()
		return bound >= want || waited >= crowdingTimeout || bound+refused >= want && waited >= refusalTimeout, pending
	}
	return waited >= bindingTimeout || refused > 0 && refused == len(pods) && waited >= refusalTimeout, pending
}

// refusal is why the scheduler found no node for a pod; empty where it did not say.
func refusal(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message
		}
	}
	return ""
}
