package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/state/quotas"
)

// written is what was written of a quota, to which object.
type written struct {
	uid    types.UID
	status quota.Status
}

// writeAll writes what changed since the last pass. Now and then it compares with the objects themselves, in case somebody
// else has edited what it wrote.
func (c *Controller) writeAll(ctx context.Context) error {
	if !c.State.Served() {
		return nil
	}
	errs := []error{c.createBuiltIns(ctx)}
	compare := c.Now().Sub(c.compared) >= c.State.Settings().QuotaSnapshotUpdateInterval.Duration
	known := make(map[string]written, len(c.written))
	c.State.Quotas(func(one quotas.Quota) bool {
		object := c.State.Object(one.Spec.Name)
		if object == nil {
			return true
		}
		before, found := c.written[one.Spec.Name]
		if found && before.uid == object.UID && !compare && reflect.DeepEqual(before.status, one.Status) {
			known[one.Spec.Name] = before
			return true
		}
		if err := c.write(ctx, object, one.Status); err != nil {
			errs = append(errs, err)
			return ctx.Err() == nil
		}
		known[one.Spec.Name] = written{uid: object.UID, status: one.Status}
		return ctx.Err() == nil
	})
	if err := c.writeRoot(ctx, compare, known); err != nil {
		errs = append(errs, err)
	}
	if c.written = known; compare {
		c.compared = c.Now()
	}
	return errors.Join(errs...)
}

// writeRoot writes the figures of the default tree to the object of the root quota. Those of another tree's total stand on
// the quota that brings it.
func (c *Controller) writeRoot(ctx context.Context, compare bool, known map[string]written) error {
	object := c.State.At(c.State.Settings().QuotaGroupNamespace, extension.RootQuotaName)
	status, found := c.State.Root("")
	if object == nil || !found {
		return nil
	}
	before, wrote := c.written[extension.RootQuotaName]
	if wrote && before.uid == object.UID && !compare && reflect.DeepEqual(before.status, status) {
		known[extension.RootQuotaName] = before
		return nil
	}
	if err := c.write(ctx, object, status); err != nil {
		return err
	}
	known[extension.RootQuotaName] = written{uid: object.UID, status: status}
	return nil
}

// write patches one object, if it says anything else.
func (c *Controller) write(ctx context.Context, object *schedulingsigsv1alpha1.ElasticQuota, status quota.Status) error {
	annotations, err := annotationsOf(object, status)
	if err != nil {
		return fmt.Errorf("encode the status of quota %s/%s: %w", object.Namespace, object.Name, err)
	}
	if upToDate(object, annotations, status) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": object.UID, "annotations": annotations},
		"status":   schedulingsigsv1alpha1.ElasticQuotaStatus{Used: status.Used.List()},
	})
	if err != nil {
		return fmt.Errorf("encode the status of quota %s/%s: %w", object.Namespace, object.Name, err)
	}
	if err := c.writes.Wait(ctx); err != nil {
		return err
	}
	_, err = c.Quotas.Resource(quotas.Kind.Resource).Namespace(object.Namespace).Patch(ctx, object.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("patch quota %s/%s: %w", object.Namespace, object.Name, err)
	}
	return nil
}

// annotationsOf a status, as upstream names them. What was guaranteed as long as usage was is removed from the object, for
// admission would keep to it.
func annotationsOf(object *schedulingsigsv1alpha1.ElasticQuota, status quota.Status) (map[string]any, error) {
	annotations := map[string]any{}
	for _, key := range []string{extension.AnnotationQuotaGuaranteed, extension.AnnotationQuotaAllocated} {
		if _, says := object.Annotations[key]; says {
			annotations[key] = nil
		}
	}
	for key, amounts := range map[string]quota.Amounts{
		extension.AnnotationQuotaRuntime: status.Runtime, extension.AnnotationQuotaRequest: status.Request, extension.AnnotationQuotaChildRequest: status.ChildRequest,
		extension.AnnotationQuotaNonPreemptibleRequest: status.NonPreemptibleRequest, extension.AnnotationQuotaNonPreemptibleUsed: status.NonPreemptibleUsed,
		extension.AnnotationQuotaTotalResource: status.Total,
		extension.AnnotationQuotaGuaranteed:    status.Guaranteed, extension.AnnotationQuotaAllocated: status.Allocated,
	} {
		if amounts == nil {
			continue
		}
		text, err := json.Marshal(amounts.List())
		if err != nil {
			return nil, err
		}
		annotations[key] = string(text)
	}
	return annotations, nil
}

func upToDate(object *schedulingsigsv1alpha1.ElasticQuota, annotations map[string]any, status quota.Status) bool {
	for key, value := range annotations {
		if said, says := object.Annotations[key]; !says || value != said {
			return false
		}
	}
	return reflect.DeepEqual(quota.AmountsOf(object.Status.Used), status.Used)
}
