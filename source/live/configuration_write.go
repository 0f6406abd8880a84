package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// configManager is the name under which the configuration is written.
const configManager = "kubectl-koord"

// givingManagers are those that a key may be taken over from without being asked: a person's edits, and the installation,
// which lets edits in the cluster stand.
var givingManagers = []string{configManager, "helm", "Helm", "kubectl-edit", "kubectl-client-side-apply", "kubectl-patch", "kubectl-replace", "kubectl-create", "kubectl"}

// WriteConfiguration writes by server-side apply, in one request and only over the version that was read. An apply cannot
// remove a key that somebody else owns too; where keys are to go, the whole change is one merge patch.
func (s *Source) WriteConfiguration(ctx context.Context, write source.ConfigurationWrite) (*source.Configuration, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	stored, err := c.writeConfiguration(ctx, write, write.Force)
	if managers := conflictingManagers(err); len(managers) > 0 {
		if foreign := foreignManagers(managers); len(foreign) > 0 {
			return nil, finding.Wrap(fmt.Errorf("write configmap %s/%s: kept by %s", write.Base.Namespace, write.Base.Name, strings.Join(foreign, ", ")),
				finding.ConfigTakenOver, "--force-conflicts writes it all the same")
		}
		stored, err = c.writeConfiguration(ctx, write, true)
	}
	if err != nil {
		return nil, writeFailure(ctx, write, err)
	}
	out := *write.Base
	describeConfiguration(&out, stored)
	return &out, nil
}

func (c *clients) writeConfiguration(ctx context.Context, write source.ConfigurationWrite, force bool) (*corev1.ConfigMap, error) {
	if !write.Base.Exists {
		return c.createConfiguration(ctx, write)
	}
	kind, body, err := writeBody(write)
	if err != nil {
		return nil, err
	}
	options := &metav1.PatchOptions{FieldManager: configManager}
	if kind == types.ApplyPatchType {
		options.Force = &force
	}
	if write.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	stored := &corev1.ConfigMap{}
	err = c.core.Patch(kind).Namespace(write.Base.Namespace).Resource("configmaps").Name(write.Base.Name).
		VersionedParams(options, scheme.ParameterCodec).Body(body).MaxRetries(retries).Do(ctx).Into(stored)
	return stored, err
}

// createConfiguration fails when there is a ConfigMap by now; an apply would change that one without having seen it.
func (c *clients) createConfiguration(ctx context.Context, write source.ConfigurationWrite) (*corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: write.Base.Namespace, Name: write.Base.Name}, Data: write.Data}
	options := &metav1.CreateOptions{FieldManager: configManager}
	if write.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	stored := &corev1.ConfigMap{}
	err := c.core.Post().Namespace(write.Base.Namespace).Resource("configmaps").
		VersionedParams(options, scheme.ParameterCodec).Body(object).MaxRetries(retries).Do(ctx).Into(stored)
	return stored, err
}

// writeBody is the patch that makes the data of what was read the data wanted.
func writeBody(write source.ConfigurationWrite) (types.PatchType, []byte, error) {
	metadata := map[string]any{"name": write.Base.Name, "namespace": write.Base.Namespace}
	if write.Base.ResourceVersion != "" {
		metadata["resourceVersion"] = write.Base.ResourceVersion
	}
	apply, merge := map[string]any{}, map[string]any{}
	removes := false
	for key, text := range write.Data {
		if before, ok := write.Base.Data[key]; !ok || before != text {
			apply[key], merge[key] = text, text
		} else if slices.Contains(write.Base.Owned, key) {
			apply[key] = text
		}
	}
	for key := range write.Base.Data {
		if _, ok := write.Data[key]; ok {
			continue
		}
		merge[key] = nil
		removes = true
	}
	kind, object := types.ApplyPatchType, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": apply}
	if removes {
		kind, object = types.MergePatchType, map[string]any{"metadata": metadata, "data": merge}
	}
	body, err := json.Marshal(object)
	if err != nil {
		return "", nil, fmt.Errorf("encode the configuration: %w", err)
	}
	return kind, body, nil
}

// conflictingManagers are the field managers that an apply met, as the server's causes name them.
func conflictingManagers(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	managers := map[string]bool{}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		if _, rest, ok := strings.Cut(cause.Message, `"`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			managers[name] = true
		}
	}
	return slices.Sorted(maps.Keys(managers))
}

func foreignManagers(managers []string) []string {
	return slices.DeleteFunc(slices.Clone(managers), func(name string) bool { return slices.Contains(givingManagers, name) })
}

func writeFailure(ctx context.Context, write source.ConfigurationWrite, err error) error {
	r := request{verb: "patch", resource: "configmaps", namespace: write.Base.Namespace, name: write.Base.Name}
	if !write.Base.Exists {
		r.verb = "create"
	}
	var status apierrors.APIStatus
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return finding.Wrap(fmt.Errorf("%s: it was modified concurrently", r), finding.ConfigChanged, "koordctl config get shows what is there now")
	case apierrors.IsInvalid(err) && errors.As(err, &status):
		return finding.Wrap(fmt.Errorf("%s: the API server rejects it: %s", r, status.Status().Message), finding.ConfigMalformed, "koordctl config lint")
	}
	return failure(ctx, r, err)
}
