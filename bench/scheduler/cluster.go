package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/bench/controlplane"
)

// waitTimeout is how long one run may take.
const waitTimeout = 10 * time.Minute

// cluster is a control plane without nodes; prepare adds them.
type cluster struct{ *controlplane.ControlPlane }

// prepare creates the nodes, and what the workload needs besides.
func (c *cluster) prepare(ctx context.Context, chosen settings, w workload) error {
	if err := c.CreateServiceAccount(ctx, namespace); err != nil {
		return err
	}
	err := controlplane.SideBySide(ctx, chosen.nodes, func(ctx context.Context, i int) error {
		node := newNode(i)
		if err := c.CreateNode(ctx, node); err != nil {
			return err
		}
		return c.CreateNodeMetric(ctx, newNodeMetric(node.Name, i, w.reported))
	})
	if err != nil || w.prepare == nil {
		return err
	}
	return w.prepare(ctx, c, chosen)
}

// warmUp waits until the scheduler has bound a first pod, and deletes it.
func (c *cluster) warmUp(ctx context.Context, running *schedulerProcess) error {
	pod := newPod("warm-up", running.asks)
	pods := c.Client.CoreV1().Pods(namespace)
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		found, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		return err == nil && found.Spec.NodeName != "", err
	})
	if err != nil {
		return err
	}
	return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
}

// watchBound sends nil once the given number of the workload's pods are bound.
func (c *cluster) watchBound(ctx context.Context, count int) <-chan error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	finished := make(chan error, 1)
	seen := map[string]bool{}
	source := cache.NewFilteredListWatchFromClient(c.Client.CoreV1().RESTClient(), "pods", namespace, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
		options.LabelSelector = workloadLabel
	})
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: source, ObjectType: &corev1.Pod{}, Handler: cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				seen[pod.Name] = true
			}
			if len(seen) == count {
				select {
				case finished <- nil:
				default:
				}
				cancel()
			}
		},
	}})
	go func() {
		defer cancel()
		informer.RunWithContext(ctx)
		select {
		case finished <- fmt.Errorf("%d of %d pods are bound: %w", len(seen), count, context.Cause(ctx)):
		default:
		}
	}()
	return finished
}
