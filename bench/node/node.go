package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/test/sandboxtest"
)

// Namespace that the pods of a benchmark are in.
const Namespace = metav1.NamespaceDefault

// systemNamespace is that of the system's own pods.
const systemNamespace = "koordinator-system"

// waitTimeout bounds the wait for pods and settings.
const waitTimeout = 5 * time.Minute

// Node is this machine. Its methods are for one goroutine.
type Node struct {
	*sandboxtest.Sandbox
	// Name of the node.
	Name string
	// Client of the sandbox's administrator.
	Client kubernetes.Interface
}

// Start starts a sandbox with this machine as its only node. It must be stopped.
func Start(ctx context.Context, name string) (*Node, error) {
	home, err := os.MkdirTemp("", "koord-bench-")
	if err != nil {
		return nil, err
	}
	sandbox, err := sandboxtest.New(name, home)
	if err != nil {
		return nil, err
	}
	n := &Node{Sandbox: sandbox}
	if err := n.start(ctx); err != nil {
		_ = n.Stop(context.WithoutCancel(ctx)) // the first error says more
		return nil, err
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) error {
	if err := n.Up(ctx, "--real-node", "--nodes", "0", "--scenario", "none"); err != nil {
		return err
	}
	var err error
	if n.Client, _, err = n.Clients(); err != nil {
		return err
	}
	nodes, err := n.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: realnode.Label})
	if err != nil {
		return err
	}
	if len(nodes.Items) != 1 {
		return fmt.Errorf("the sandbox has %d real nodes", len(nodes.Items))
	}
	n.Name = nodes.Items[0].Name
	return nil
}

// Stop takes the sandbox down and deletes what it left.
func (n *Node) Stop(ctx context.Context) error {
	if err := n.Down(ctx); err != nil {
		return err
	}
	return os.RemoveAll(n.Home)
}

// Configure sets keys of ConfigMap slo-controller-config, each to a value that is written as JSON.
func (n *Node) Configure(ctx context.Context, keys map[string]any) error {
	data := map[string]string{}
	for key, value := range keys {
		encoded, err := json.Marshal(value)
		if err != nil {
			return err
		}
		data[key] = string(encoded)
	}
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	_, err = n.Client.CoreV1().ConfigMaps(systemNamespace).
		Patch(ctx, "slo-controller-config", types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// Create creates pods on the node and waits until all of them are ready. It returns them as they are then.
func (n *Node) Create(ctx context.Context, pods ...*corev1.Pod) ([]*corev1.Pod, error) {
	for _, pod := range pods {
		pod.Spec.NodeName = n.Name // the machine may be too busy for the scheduler
		if _, err := n.Client.CoreV1().Pods(Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("create pod %q: %w", pod.Name, err)
		}
	}
	var running []*corev1.Pod
	err := Await(ctx, func(ctx context.Context) error {
		running = running[:0]
		for _, pod := range pods {
			now, err := n.Client.CoreV1().Pods(Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if !ready(now) {
				return fmt.Errorf("pod %q is not ready: %s", pod.Name, now.Status.Phase)
			}
			running = append(running, now)
		}
		return nil
	})
	return running, err
}

func ready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return pod.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}

// Delete deletes pods and waits until they are gone.
func (n *Node) Delete(ctx context.Context, pods ...*corev1.Pod) error {
	now := int64(0)
	for _, pod := range pods {
		err := n.Client.CoreV1().Pods(Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		if err != nil {
			return fmt.Errorf("delete pod %q: %w", pod.Name, err)
		}
	}
	return Await(ctx, func(ctx context.Context) error {
		for _, pod := range pods {
			_, err := n.Client.CoreV1().Pods(Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
			if err == nil {
				err = fmt.Errorf("pod %q is still there", pod.Name)
			}
			if !apierrors.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
}

// Await calls check until it returns nil.
func Await(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", waitTimeout, err)
		case <-tick.C:
		}
	}
}
