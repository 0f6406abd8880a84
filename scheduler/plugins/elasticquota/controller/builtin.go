package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/scheduler/state/quotas"
)

// createBuiltIns creates the objects of the quotas that always exist, so that what they use can be seen. They are created
// once, and again only after somebody deleted them.
func (c *Controller) createBuiltIns(ctx context.Context) error {
	settings := c.State.Settings()
	var errs []error
	for _, always := range []struct {
		name  string
		limit corev1.ResourceList
	}{{extension.RootQuotaName, nil}, {extension.DefaultQuotaName, settings.DefaultQuotaGroupMax}, {extension.SystemQuotaName, settings.SystemQuotaGroupMax}} {
		if !c.State.Exists(settings.QuotaGroupNamespace, always.name) {
			errs = append(errs, c.create(ctx, builtIn(settings.QuotaGroupNamespace, always.name, always.limit)))
		}
	}
	return errors.Join(errs...)
}

func builtIn(namespace, name string, limit corev1.ResourceList) *schedulingsigsv1alpha1.ElasticQuota {
	object := &schedulingsigsv1alpha1.ElasticQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "ElasticQuota"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Max: limit},
	}
	if name == extension.RootQuotaName {
		object.Labels = map[string]string{extension.LabelQuotaIsParent: "true", extension.LabelQuotaAllowLentResource: "false"}
	}
	return object
}

func (c *Controller) create(ctx context.Context, object *schedulingsigsv1alpha1.ElasticQuota) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("encode quota %s/%s: %w", object.Namespace, object.Name, err)
	}
	if err := c.writes.Wait(ctx); err != nil {
		return err
	}
	_, err = c.Quotas.Resource(quotas.Kind.Resource).Namespace(object.Namespace).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create quota %s/%s: %w", object.Namespace, object.Name, err)
	}
	return nil
}
