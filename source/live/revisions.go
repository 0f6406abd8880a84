package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"koordinator.sh/koord/source"
)

// Revisions of the configuration are ControllerRevisions, as the history of a DaemonSet is: each is immutable and stands for
// itself. They have no owner, so that they outlive the ConfigMap when somebody deletes it.
const (
	revisionLabel = "koordinator.sh/configuration"
	revisionCause = "kubernetes.io/change-cause"
	revisionUser  = "koordinator.sh/changed-by"
	// revisionOf is the resourceVersion of the ConfigMap that a revision is of.
	revisionOf = "koordinator.sh/configuration-version"
	// revisionAttempts bounds how often another number is tried when somebody else takes the same.
	revisionAttempts = 5
)

// revisionData is what a ControllerRevision holds.
type revisionData struct {
	Data map[string]string `json:"data"`
}

// Revisions lists the revisions kept, the oldest first. One that cannot be read is left out.
func (s *Source) Revisions(ctx context.Context, namespace string) ([]source.Revision, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	found, err := c.listRevisions(ctx, s.systemNamespace(namespace))
	if err != nil {
		return nil, err
	}
	out := make([]source.Revision, 0, len(found))
	for i := range found {
		var content revisionData
		if err := json.Unmarshal(found[i].Data.Raw, &content); err != nil {
			continue
		}
		out = append(out, source.Revision{
			Number: found[i].Revision, Time: found[i].CreationTimestamp.Time, Data: content.Data,
			User: found[i].Annotations[revisionUser], Cause: found[i].Annotations[revisionCause], ResourceVersion: found[i].Annotations[revisionOf],
		})
	}
	return out, nil
}

func (c *clients) listRevisions(ctx context.Context, namespace string) ([]appsv1.ControllerRevision, error) {
	r := request{verb: "list", group: "apps", resource: "controllerrevisions", namespace: namespace}
	found := &appsv1.ControllerRevisionList{}
	err := c.core.Get().AbsPath(revisionPath(namespace)...).MaxRetries(retries).
		VersionedParams(&metav1.ListOptions{LabelSelector: revisionLabel + "=" + strategyConfig}, scheme.ParameterCodec).Do(ctx).Into(found)
	if err != nil {
		return nil, failure(ctx, r, err)
	}
	slices.SortFunc(found.Items, func(a, b appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
	})
	return found.Items, nil
}

func revisionPath(namespace string, name ...string) []string {
	return append([]string{"/apis/apps/v1/namespaces", namespace, "controllerrevisions"}, name...)
}

// KeepRevision stores a revision under the number after the last one, and deletes the oldest ones above the limit. The
// number is taken by the name, so that of several programs that keep a revision at the same time one is the first; the others
// look again, and may find that theirs is kept already.
func (s *Source) KeepRevision(ctx context.Context, namespace string, revision source.Revision) (source.Revision, error) {
	c, err := s.connect()
	if err != nil {
		return revision, err
	}
	namespace = s.systemNamespace(namespace)
	for attempt := 1; ; attempt++ {
		existing, err := c.listRevisions(ctx, namespace)
		if err != nil {
			return revision, err
		}
		if kept := revisionKept(existing, revision.ResourceVersion); kept != nil {
			return c.claimRevision(ctx, kept, revision)
		}
		// Higher than the last try also when the one that took that number is not listed.
		revision.Number++
		if len(existing) > 0 {
			revision.Number = max(revision.Number, existing[len(existing)-1].Revision+1)
		}
		err = c.createRevision(ctx, namespace, &revision)
		if err == nil {
			return revision, c.prune(ctx, namespace, existing)
		}
		if !apierrors.IsAlreadyExists(err) || attempt == revisionAttempts {
			return revision, failure(ctx, request{verb: "create", group: "apps", resource: "controllerrevisions", namespace: namespace}, err)
		}
	}
}

// revisionKept is the revision of a version of the ConfigMap, if there is one.
func revisionKept(existing []appsv1.ControllerRevision, version string) *appsv1.ControllerRevision {
	if version == "" {
		return nil
	}
	for i := range existing {
		if existing[i].Annotations[revisionOf] == version {
			return &existing[i]
		}
	}
	return nil
}

// claimRevision gives a revision that another command kept as found the cause and the user of the one that wrote it.
func (c *clients) claimRevision(ctx context.Context, kept *appsv1.ControllerRevision, revision source.Revision) (source.Revision, error) {
	revision.Number, revision.Time = kept.Revision, kept.CreationTimestamp.Time
	if revision.Cause == source.FoundCause || kept.Annotations[revisionCause] != source.FoundCause {
		return revision, nil
	}
	annotations := map[string]string{revisionCause: revision.Cause, revisionUser: revision.User}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return revision, fmt.Errorf("encode revision %d: %w", revision.Number, err)
	}
	err = c.core.Patch(types.MergePatchType).AbsPath(revisionPath(kept.Namespace, kept.Name)...).MaxRetries(retries).
		VersionedParams(&metav1.PatchOptions{FieldManager: configManager}, scheme.ParameterCodec).Body(body).Do(ctx).Error()
	return revision, failure(ctx, request{verb: "patch", group: "apps", resource: "controllerrevisions", namespace: kept.Namespace, name: kept.Name}, err)
}

func (c *clients) createRevision(ctx context.Context, namespace string, revision *source.Revision) error {
	raw, err := json.Marshal(revisionData{Data: revision.Data})
	if err != nil {
		return fmt.Errorf("encode revision %d: %w", revision.Number, err)
	}
	object := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: strategyConfig + "-" + strconv.FormatInt(revision.Number, 10),
			Labels:      map[string]string{revisionLabel: strategyConfig},
			Annotations: map[string]string{revisionCause: revision.Cause, revisionUser: revision.User, revisionOf: revision.ResourceVersion},
		},
		Data: runtime.RawExtension{Raw: raw}, Revision: revision.Number,
	}
	stored := &appsv1.ControllerRevision{}
	err = c.core.Post().AbsPath(revisionPath(namespace)...).MaxRetries(retries).
		VersionedParams(&metav1.CreateOptions{FieldManager: configManager}, scheme.ParameterCodec).Body(object).Do(ctx).Into(stored)
	if err == nil {
		revision.Time = stored.CreationTimestamp.Time
	}
	return err
}

// prune deletes the oldest of the revisions that existed before the newest one was added.
func (c *clients) prune(ctx context.Context, namespace string, existing []appsv1.ControllerRevision) error {
	for i := range max(len(existing)+1-source.MaxRevisions, 0) {
		r := request{verb: "delete", group: "apps", resource: "controllerrevisions", namespace: namespace, name: existing[i].Name}
		err := c.core.Delete().AbsPath(revisionPath(namespace, existing[i].Name)...).MaxRetries(retries).Do(ctx).Error()
		if err != nil && !apierrors.IsNotFound(err) {
			return failure(ctx, r, err)
		}
	}
	return nil
}
