package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/deploy/release"
)

// installRights are the requests that installing these objects makes: each is read, created and applied, and Helm keeps its revisions in
// Secrets of the namespace. Roles can only be written by a user who has the rights in them, or may escalate and bind.
func installRights(objects []*unstructured.Unstructured, namespace string) []Right {
	var out []Right
	add := func(group, resource, namespace string, verbs ...string) {
		for _, verb := range verbs {
			if right := (Right{verb, group, resource, namespace}); !slices.Contains(out, right) {
				out = append(out, right)
			}
		}
	}
	add("", "secrets", namespace, "list", "create", "update", "delete")
	for _, object := range objects {
		if object.GetKind() == "Namespace" {
			continue // one that exists stays as it is
		}
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		add(resource.Group, resource.Resource, object.GetNamespace(), "get", "create", "patch")
		if object.GetKind() == "ClusterRole" || object.GetKind() == "Role" {
			add(resource.Group, resource.Resource, object.GetNamespace(), "escalate", "bind")
		}
	}
	slices.SortFunc(out, func(a, b Right) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb))
	})
	return out
}

// readRights asks the API server which of the rights the user lacks.
func readRights(ctx context.Context, c *Cluster, f *Facts) error {
	manifests, err := release.Render(ctx, c.Release)
	if err != nil {
		return err
	}
	objects, err := release.Objects(manifests)
	if err != nil {
		return fmt.Errorf("read the manifests: %w", err)
	}
	wanted := installRights(objects, f.Namespace)
	if _, err := c.client.CoreV1().Namespaces().Get(ctx, f.Namespace, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		wanted = append(wanted, Right{Verb: "create", Resource: "namespaces"})
	}
	return fact(ctx, &f.Rights, "create selfsubjectaccessreviews", func(ctx context.Context) ([]Right, error) {
		allowed := make([]bool, len(wanted))
		group, groupContext := errgroup.WithContext(ctx)
		group.SetLimit(parallelism)
		for i, right := range wanted {
			group.Go(func() error {
				review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
					ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: right.Verb, Group: right.Group, Resource: right.Resource, Namespace: right.Namespace},
				}}
				answer, err := c.client.AuthorizationV1().SelfSubjectAccessReviews().Create(groupContext, review, metav1.CreateOptions{})
				if err == nil {
					allowed[i] = answer.Status.Allowed
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		var lacking []Right
		for i, right := range wanted {
			if !allowed[i] {
				lacking = append(lacking, right)
			}
		}
		return lacking, nil
	})
}
