package controlplane

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var (
	nodeMetrics   = slov1alpha1.GroupVersion.WithResource("nodemetrics")
	elasticQuotas = schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas")
)

// writers create objects side by side.
const writers = 8

// SideBySide calls work for every index below count, several at a time, and returns the first error.
func SideBySide(ctx context.Context, count int, work func(context.Context, int) error) error {
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

// Quantities are amounts of resources by name.
func Quantities(values map[corev1.ResourceName]string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, value := range values {
		list[name] = resource.MustParse(value)
	}
	return list
}

// CreateServiceAccount creates the account of a namespace's pods, which no controller makes here.
func (c *ControlPlane) CreateServiceAccount(ctx context.Context, namespace string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err := c.Client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the service account of namespace %q: %w", namespace, err)
	}
	return nil
}

// CreateNode creates a node that takes pods.
func (c *ControlPlane) CreateNode(ctx context.Context, node *corev1.Node) error {
	if _, err := c.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	untaint := []byte(`{"spec":{"taints":null}}`) // admission taints every new node until a controller finds it ready
	_, err := c.Client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, untaint, metav1.PatchOptions{})
	return err
}

// CreateNodeMetric creates a NodeMetric with its status.
func (c *ControlPlane) CreateNodeMetric(ctx context.Context, metric *slov1alpha1.NodeMetric) error {
	metric.TypeMeta = metav1.TypeMeta{APIVersion: slov1alpha1.GroupVersion.String(), Kind: "NodeMetric"}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(metric)
	if err != nil {
		return err
	}
	client := c.Dynamic.Resource(nodeMetrics)
	created, err := client.Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Object["status"] = object["status"]
	_, err = client.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// CreateQuota creates an ElasticQuota.
func (c *ControlPlane) CreateQuota(ctx context.Context, quota *schedulingsigsv1alpha1.ElasticQuota, options metav1.CreateOptions) error {
	quota.TypeMeta = metav1.TypeMeta{APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "ElasticQuota"}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(quota)
	if err != nil {
		return err
	}
	_, err = c.Dynamic.Resource(elasticQuotas).Namespace(quota.Namespace).Create(ctx, &unstructured.Unstructured{Object: object}, options)
	return err
}
