package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/test/sandboxtest"
)

// patience is how long one run may take.
const patience = 10 * time.Minute

// writers create objects side by side.
const writers = 8

// cluster is a control plane without nodes of its own.
type cluster struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
	config  *rest.Config
}

func connect(sandbox *sandboxtest.Sandbox) (*cluster, error) {
	config, err := sandbox.Config()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 5000, 5000
	admin := rest.CopyConfig(config)
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	return &cluster{client: client, dynamic: objects, config: admin}, err
}

// sideBySide calls work for every index below count and returns the first error.
func sideBySide(ctx context.Context, count int, work func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for i := range next {
				if err := work(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := 0; i < count && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// prepare creates the nodes, and what the workload needs besides.
func (c *cluster) prepare(ctx context.Context, chosen settings, w workload) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}} // what no controller makes here
	if _, err := c.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	err := sideBySide(ctx, chosen.nodes, func(ctx context.Context, i int) error {
		node := newNode(i)
		if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
		untaint := []byte(`{"spec":{"taints":null}}`) // admission taints every new node until a controller finds it ready
		if _, err := c.client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, untaint, metav1.PatchOptions{}); err != nil {
			return err
		}
		return c.createNodeMetric(ctx, node.Name, i)
	})
	if err != nil || w.prepare == nil {
		return err
	}
	return w.prepare(ctx, c, chosen)
}

// warmUp waits until the scheduler has bound a first pod, and deletes it.
func (c *cluster) warmUp(ctx context.Context, running *process) error {
	pod := newPod("warm-up", running.asks)
	pods := c.client.CoreV1().Pods(namespace)
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	finished := make(chan error, 1)
	seen := map[string]bool{}
	source := cache.NewFilteredListWatchFromClient(c.client.CoreV1().RESTClient(), "pods", namespace, func(options *metav1.ListOptions) {
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
