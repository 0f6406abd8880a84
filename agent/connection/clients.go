// Package connection is how agents reach the API server.
package connection

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

const (
	// writeTimeout bounds one report.
	writeTimeout = 30 * time.Second
	// discoveryInterval is the shortest time between two questions whether the API server serves a resource yet; it doubles up to
	// lastPatience.
	discoveryInterval = 500 * time.Millisecond
)

// The resources that the agents watch and write.
var (
	NodeMetrics    = slov1alpha1.GroupVersion.WithResource("nodemetrics")
	NodeSLOs       = slov1alpha1.GroupVersion.WithResource("nodeslos")
	NodeTopologies = topologyv1alpha1.GroupVersion.WithResource("noderesourcetopologies")
)

// Clients of the API server: Core for nodes and pods; SLO and Topology to watch what is wanted and reported of nodes, and
// SLOWrites and TopologyWrites to report it, both within one rate limit.
type Clients struct {
	Core                     kubernetes.Interface
	SLO, SLOWrites           rest.Interface
	Topology, TopologyWrites rest.Interface
	// SchedulingWrites is for Devices.
	SchedulingWrites rest.Interface
}

// New returns clients that write at most a number of times a second. The user agent is that of the configuration, or else the
// name of the agent is added to the default.
func New(config *rest.Config, agent string, qps float32) (*Clients, error) {
	base := rest.CopyConfig(config)
	if base.UserAgent == "" {
		base.UserAgent = rest.DefaultKubernetesUserAgent() + "/" + agent
	}
	core := rest.CopyConfig(base)
	core.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	core.ContentType = runtime.ContentTypeProtobuf
	out := &Clients{}
	var err error
	if out.Core, err = kubernetes.NewForConfig(core); err != nil {
		return nil, fmt.Errorf("make a client for nodes and pods: %w", err)
	}
	limit := flowcontrol.NewTokenBucketRateLimiter(qps, max(int(qps), 1))
	out.SLO, out.SLOWrites, err = groupClients(base, slov1alpha1.GroupVersion, slov1alpha1.AddToScheme, limit)
	if err != nil {
		return nil, err
	}
	out.Topology, out.TopologyWrites, err = groupClients(base, topologyv1alpha1.GroupVersion, topologyv1alpha1.AddToScheme, limit)
	if err != nil {
		return nil, err
	}
	_, out.SchedulingWrites, err = groupClients(base, schedulingv1alpha1.GroupVersion, schedulingv1alpha1.AddToScheme, limit)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// groupClients makes two clients of a group: one to watch, and one to write within the limit.
func groupClients(config *rest.Config, group schema.GroupVersion, register func(*runtime.Scheme) error, limit flowcontrol.RateLimiter) (reads, writes rest.Interface, err error) {
	scheme := runtime.NewScheme()
	if err := register(scheme); err != nil {
		return nil, nil, fmt.Errorf("register the kinds of %s: %w", group, err)
	}
	reading := rest.CopyConfig(config)
	reading.GroupVersion = &group
	reading.APIPath = "/apis"
	reading.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	reading.AcceptContentTypes, reading.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	writing := rest.CopyConfig(reading)
	writing.Timeout = writeTimeout
	writing.RateLimiter = limit
	if reads, err = rest.RESTClientFor(reading); err != nil {
		return nil, nil, fmt.Errorf("make a client to watch %s: %w", group, err)
	}
	if writes, err = rest.RESTClientFor(writing); err != nil {
		return nil, nil, fmt.Errorf("make a client to write %s: %w", group, err)
	}
	return reads, writes, nil
}

// Await waits until the API server serves a resource, so that an informer started too early does not lose half a minute
// to its back-off.
func (c *Clients) Await(ctx context.Context, resource schema.GroupVersionResource) error {
	for attempt, wait := 0, discoveryInterval; ; attempt, wait = attempt+1, min(2*wait, lastPatience) {
		// The discovery client's own methods take no context, and would outlive this one by half a minute.
		list := &metav1.APIResourceList{}
		err := c.Core.Discovery().RESTClient().Get().AbsPath("apis", resource.Group, resource.Version).MaxRetries(0).Do(ctx).Into(list)
		if err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource.Resource }) {
			return nil
		}
		if attempt == 0 {
			klog.FromContext(ctx).Info("Waiting for the API server to serve a resource", "resource", resource.Resource, "group", resource.Group, "reason", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause(wait, err)):
		}
	}
}
