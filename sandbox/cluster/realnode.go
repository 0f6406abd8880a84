package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/realnode"
)

// GrantKubeletCalls lets the API server ask kubelets for logs and forward exec to them.
func (c *Cluster) GrantKubeletCalls(ctx context.Context) error {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: pki.KubeletClientUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:kubelet-api-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: pki.KubeletClientUser}},
	}
	_, err := c.client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create cluster role binding %q: %w", binding.Name, err)
	}
	return nil
}

// KeepRealNode deletes the nodes that this machine was under other names; under any where name is empty.
func (c *Cluster) KeepRealNode(ctx context.Context, name string) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: realnode.Label})
	if err != nil {
		return fmt.Errorf("list real nodes: %w", err)
	}
	for i := range nodes.Items {
		if other := nodes.Items[i].Name; other != name {
			err = errors.Join(err, c.deleteNode(ctx, other))
		}
	}
	return err
}

// AwaitReady waits until a node has been ready since a time: what it said of itself in an earlier run does not count.
func (c *Cluster) AwaitReady(ctx context.Context, name string, since time.Time, detail func(string)) error {
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		why := "not registered"
		if err == nil {
			if why = notReady(node, since); why == "" {
				return nil
			}
			detail(why)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for node %q: %s: %w", name, why, ctx.Err())
		case <-tick.C:
		}
	}
}

// notReady says why a node is not ready, or has not said so since a time; "" when it is and has.
func notReady(node *corev1.Node, since time.Time) string {
	i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	switch {
	case i < 0:
		return "no Ready condition"
	case node.Status.Conditions[i].LastHeartbeatTime.Time.Before(since.Truncate(time.Second)):
		return "no Ready condition since kubelet started"
	case node.Status.Conditions[i].Status != corev1.ConditionTrue:
		return node.Status.Conditions[i].Message
	case slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }):
		return "Ready, but the not-ready taint is not removed yet"
	}
	return ""
}
