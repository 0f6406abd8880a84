package live

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	sigsjson "sigs.k8s.io/json"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/overview"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// fromCache lets the API server answer from memory. The answer may be a moment old, as everything shown here is.
const fromCache = "0"

// selection narrows a list.
type selection struct {
	namespace, labels, fields string
	// limit of items, 0 for all. A limited list is read from storage, not from the cache.
	limit int
}

func list[T any](ctx context.Context, client rest.Interface, r request, by selection, items split, decode func([]byte, *T) error) ([]T, error) {
	ask := client.Get().Resource(r.resource).MaxRetries(retries)
	if by.namespace != "" {
		ask.Namespace(by.namespace)
	}
	if by.limit > 0 {
		ask.Param("limit", strconv.Itoa(by.limit))
	} else {
		ask.Param("resourceVersion", fromCache)
	}
	for name, value := range map[string]string{"labelSelector": by.labels, "fieldSelector": by.fields} {
		if value != "" {
			ask.Param(name, value)
		}
	}
	body, err := ask.Stream(ctx)
	if err != nil {
		return nil, failure(ctx, r, err)
	}
	defer body.Close()
	all, err := collect(body, items, decode)
	return all, failure(ctx, r, err)
}

// listOf lists objects of a group without what drop leaves out, in a namespace or in all.
func listOf[T any](ctx context.Context, c *clients, version schema.GroupVersion, resource, namespace string, drop droppedKeys) ([]T, error) {
	client, err := c.group(ownGroup(version))
	if err != nil {
		return nil, err
	}
	r := request{verb: "list", group: version.Group, resource: resource, namespace: namespace}
	return list(ctx, client, r, selection{namespace: namespace}, splitJSON, func(raw []byte, into *T) error {
		return unmarshalJSON(raw, drop, into)
	})
}

func (c *clients) nodes(ctx context.Context, by selection) ([]corev1.Node, error) {
	return list(ctx, c.core, request{verb: "list", resource: "nodes"}, by, splitProtobuf, func(raw []byte, into *corev1.Node) error {
		return unmarshal(raw, nodeDrop, into)
	})
}

// pods lists pods without what drop leaves out. They share what they have in common: see podDecoder.
func (c *clients) pods(ctx context.Context, by selection, drop dropped) ([]corev1.Pod, error) {
	r := request{verb: "list", resource: "pods", namespace: by.namespace}
	return list(ctx, c.core, r, by, splitProtobuf, (&podDecoder{drop: drop}).decode)
}

// members lists the pods of gangs, without what drop leaves out. Of the others, which are most, no more is decoded than what tells them apart.
func (c *clients) members(ctx context.Context, by selection, drop dropped) ([]corev1.Pod, error) {
	r := request{verb: "list", resource: "pods", namespace: by.namespace}
	every, members := &podDecoder{drop: podMemberDrop}, &podDecoder{drop: drop}
	return list(ctx, c.core, r, by, splitProtobuf, func(raw []byte, into *corev1.Pod) error {
		var pod corev1.Pod
		if err := every.decode(raw, &pod); err != nil {
			return err
		}
		if _, member := gang.KeyOf(&pod); !member {
			return errLeftOut
		}
		return members.decode(raw, into)
	})
}

// podRequests lists what pods request.
func (c *clients) podRequests(ctx context.Context, by selection) ([]overcommit.PodRequests, error) {
	r := request{verb: "list", resource: "pods", namespace: by.namespace}
	decoder := &podDecoder{drop: podBriefDrop}
	return list(ctx, c.core, r, by, splitProtobuf, func(raw []byte, into *overcommit.PodRequests) error {
		pod := &corev1.Pod{}
		err := decoder.decode(raw, pod)
		*into = overcommit.RequestsOf(pod)
		return err
	})
}

// podRows lists pods as the rows of an overview.
func (c *clients) podRows(ctx context.Context, by selection) ([]diagnosticsv1alpha1.PodOverview, error) {
	r := request{verb: "list", resource: "pods", namespace: by.namespace}
	decoder := &podDecoder{drop: podRowDrop}
	return list(ctx, c.core, r, by, splitProtobuf, func(raw []byte, into *diagnosticsv1alpha1.PodOverview) error {
		pod := &corev1.Pod{}
		err := decoder.decode(raw, pod)
		*into = overview.PodOf(pod)
		return err
	})
}

func unmarshal(raw []byte, drop dropped, into interface{ Unmarshal([]byte) error }) error {
	kept, err := strip(buffer(len(raw))[:0], raw, drop)
	if err != nil {
		return err
	}
	defer recycle(kept)
	return into.Unmarshal(kept)
}

// metrics lists NodeMetrics without what drop leaves out. It is asked once the first of them has arrived.
func (c *clients) metrics(ctx context.Context, by selection, drop func() droppedKeys) ([]slov1alpha1.NodeMetric, error) {
	r := request{verb: "list", group: slov1alpha1.GroupVersion.Group, resource: "nodemetrics"}
	return list(ctx, c.slo, r, by, splitJSON, func(raw []byte, into *slov1alpha1.NodeMetric) error {
		return unmarshalJSON(raw, drop(), into)
	})
}

// podUses lists what the pods of nodes use.
func (c *clients) podUses(ctx context.Context, by selection, now time.Time) ([]overview.NodeUses, error) {
	r := request{verb: "list", group: slov1alpha1.GroupVersion.Group, resource: "nodemetrics"}
	return list(ctx, c.slo, r, by, splitJSON, func(raw []byte, into *overview.NodeUses) error {
		metric := &slov1alpha1.NodeMetric{}
		err := unmarshalJSON(raw, metricBriefDrop, metric)
		*into = overview.UsesOf(metric, now)
		return err
	})
}

func unmarshalJSON(raw []byte, drop droppedKeys, into any) error {
	kept, err := stripJSON(buffer(len(raw))[:0], raw, drop)
	if err != nil {
		kept = raw // the decoder says what is wrong
	} else {
		defer recycle(kept)
	}
	return sigsjson.UnmarshalCaseSensitivePreserveInts(kept, into)
}

// get reads one object of the core group; a missing one is an error with code KOORD0003.
func (c *clients) get(ctx context.Context, resource, namespace, name string, into runtime.Object) error {
	r := request{verb: "get", resource: resource, namespace: namespace, name: name}
	err := c.core.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).Name(name).
		MaxRetries(retries).Do(ctx).Into(into)
	return failure(ctx, r, err)
}

// apps reads one object of the group apps; a missing one is an error with code KOORD0003.
func (c *clients) apps(ctx context.Context, resource, namespace, name string, into runtime.Object) error {
	r := request{verb: "get", group: appsv1.GroupName, resource: resource, namespace: namespace, name: name}
	return failure(ctx, r, c.core.Get().AbsPath("/apis", r.group, "v1", "namespaces", namespace, resource, name).MaxRetries(retries).Do(ctx).Into(into))
}

// metadataOnly asks for a list as the metadata of its objects.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// replicaSets reads the metadata of the ReplicaSets of a namespace.
func (c *clients) replicaSets(ctx context.Context, namespace string) ([]metav1.PartialObjectMetadata, error) {
	r := request{verb: "list", group: appsv1.GroupName, resource: "replicasets", namespace: namespace}
	body, err := c.core.Get().AbsPath("/apis", r.group, "v1", "namespaces", namespace, r.resource).SetHeader("Accept", metadataOnly).
		Param("resourceVersion", fromCache).MaxRetries(retries).DoRaw(ctx)
	if err != nil {
		return nil, failure(ctx, r, err)
	}
	found := &metav1.PartialObjectMetadataList{}
	if err := json.Unmarshal(body, found); err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	return found.Items, nil
}

// metric reads a node's NodeMetric; a missing one is nil without error.
func (c *clients) metric(ctx context.Context, name string) (*slov1alpha1.NodeMetric, error) {
	found, err := c.metrics(ctx, selection{fields: equals("metadata.name", name)}, always(metricDrop))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// events about one pod.
func (c *clients) events(ctx context.Context, pod *corev1.Pod) ([]corev1.Event, error) {
	about := fields.Set{"involvedObject.name": pod.Name, "involvedObject.kind": "Pod"}
	if pod.UID != "" {
		about["involvedObject.uid"] = string(pod.UID)
	}
	return c.eventsBy(ctx, pod.Namespace, about)
}

const (
	// eventsPage bounds the events that are read at once, and eventsLimit all of one question.
	eventsPage, eventsLimit = 500, 5000
)

// eventsBy reads events by their fields, about eventsLimit at most; those of all namespaces where none is given.
func (c *clients) eventsBy(ctx context.Context, namespace string, by fields.Set) ([]corev1.Event, error) {
	r := request{verb: "list", resource: "events", namespace: namespace}
	options := metav1.ListOptions{FieldSelector: by.String(), Limit: eventsPage}
	var all []corev1.Event
	for {
		found := &corev1.EventList{}
		err := c.core.Get().NamespaceIfScoped(namespace, namespace != "").Resource(r.resource).MaxRetries(retries).
			VersionedParams(&options, scheme.ParameterCodec).Do(ctx).Into(found)
		if err != nil {
			return nil, failure(ctx, r, err)
		}
		all = append(all, found.Items...)
		if options.Continue = found.Continue; options.Continue == "" || len(all) >= eventsLimit {
			return all, nil
		}
	}
}

// rawOf is the body of an answer. An error is the one that the server describes, whose text Raw leaves out.
func rawOf(result rest.Result) ([]byte, error) {
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

func serverVersion(ctx context.Context, c *clients) (string, error) {
	r := request{verb: "get", resource: "/version"}
	raw, err := rawOf(c.core.Get().AbsPath("/version").MaxRetries(retries).SetHeader("Accept", "application/json").Do(ctx))
	if err != nil {
		return "", failure(ctx, r, err)
	}
	info := version.Info{}
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", fmt.Errorf("read the server's version: %w", err)
	}
	return info.GitVersion, nil
}
