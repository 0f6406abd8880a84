package live

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/suggest"
	"koordinator.sh/koord/source"
)

// suggestionLimit bounds the names that are compared with one that does not exist.
const suggestionLimit = 500

// Names lists names only: the API server sends no more than metadata.
func (s *Source) Names(ctx context.Context, kind source.Kind, namespace string, limit int) ([]string, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	client, err := c.of(kind)
	if err != nil {
		return nil, fmt.Errorf("list names: %w", err)
	}
	return names(ctx, client, requestFor("list", kind, namespace), limit)
}

func names(ctx context.Context, client rest.Interface, r request, limit int) ([]string, error) {
	ask := client.Get().Resource(r.resource).MaxRetries(retries).Param("limit", strconv.Itoa(limit)).
		SetHeader("Accept", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	if r.namespace != "" {
		ask.Namespace(r.namespace)
	}
	body, err := ask.Stream(ctx)
	if err != nil {
		return nil, failure(ctx, r, err)
	}
	defer body.Close()
	items, err := collect(body, splitProtobuf, func(raw []byte, into *metav1.PartialObjectMetadata) error { return into.Unmarshal(raw) })
	if err != nil {
		return nil, failure(ctx, r, err)
	}
	found := make([]string, len(items))
	for i := range items {
		found[i] = items[i].Name
	}
	slices.Sort(found)
	return found, nil
}

// missing makes the error for a name of Kubernetes' own kinds that does not exist.
func missing(ctx context.Context, c *clients, r request) error {
	hint := "koordctl top " + r.resource
	if r.namespace != "" {
		hint += " -n " + r.namespace
	}
	return missingAmong(ctx, c.core, r, hint)
}

// missingAmong makes the error for a name that does not exist, with the nearest one that does if the user may list them.
func missingAmong(ctx context.Context, client rest.Interface, r request, hint string) error {
	what := strings.TrimSuffix(r.resource, "s")
	if r.resource == source.KindWorkers.Plural {
		what = source.KindWorkers.Name // which has no singular
	}
	err := fmt.Errorf("%s %q not found", what, r.name)
	if r.namespace != "" {
		err = fmt.Errorf("%w in namespace %q", err, r.namespace)
	}
	known, listErr := names(ctx, client, request{verb: "list", group: r.group, resource: r.resource, namespace: r.namespace}, suggestionLimit)
	if hasCode(listErr, finding.NotInstalled) {
		return listErr
	}
	if listErr == nil {
		if near := suggest.Nearest(r.name, known); near != "" {
			err = fmt.Errorf("%w, did you mean %q?", err, near)
		}
	}
	return finding.Wrap(err, finding.NotFound, hint)
}
