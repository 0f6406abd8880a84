package install

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/source/live"
)

// Part is one part of what a status is read from.
type Part string

// Parts of a status, in the order in which they are read.
const (
	PartRelease     Part = "release"
	PartKubernetes  Part = "kubernetes"
	PartConfig      Part = "config"
	PartEvictions   Part = "evictions"
	PartDeployments Part = "deployments"
	PartLeases      Part = "leases"
	PartDaemonSets  Part = "daemonsets"
	PartDefinitions Part = "definitions"
	PartAPI         Part = "api"
	PartProtections Part = "protections"
	PartEnforcement Part = "enforcement"
	PartNodes       Part = "nodes"
	PartQuotas      Part = "quotas"
	PartLoops       Part = "loops"
)

// Collection is the status of what is in a namespace, whether or not the system is installed there.
type Collection struct {
	Status *InstallationStatus
	// Unread says for each part why it could not be read whole, such as a right that is missing.
	Unread map[Part][]string
	Objects
}

// Objects are what a status was concluded from.
type Objects struct {
	// Definitions are all custom resource definitions of the cluster.
	Definitions []unstructured.Unstructured
	// APIService of the diagnostics API; nil when there is none.
	APIService *unstructured.Unstructured
	// Nodes by name.
	Nodes []corev1.Node
	// Deployments and DaemonSets of the components.
	Deployments []appsv1.Deployment
	DaemonSets  []appsv1.DaemonSet
}

// Collect reads the status of the release that the options name. What the API server refuses or fails to answer is unread; an error means
// that it does not even tell its version.
func Collect(ctx context.Context, getter genericclioptions.RESTClientGetter, clock clock.PassiveClock, options release.Options) (*Collection, error) {
	c, err := newCollector(getter, clock, options)
	if err != nil {
		return nil, err
	}
	c.goesOn = true
	if err := c.collectParts(ctx, options.Namespace); err != nil {
		return nil, err
	}
	return &Collection{Status: c.status, Unread: c.unread, Objects: c.objects}, nil
}

// Clients returns the clients that an installation is read with. The typed one prefers protobuf.
func Clients(getter genericclioptions.RESTClientGetter) (kubernetes.Interface, dynamic.Interface, error) {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return nil, nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100
	typed := rest.CopyConfig(config)
	typed.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(typed)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the client: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the client: %w", err)
	}
	return client, objects, nil
}

func newCollector(getter genericclioptions.RESTClientGetter, clock clock.PassiveClock, options release.Options) (*collector, error) {
	client, objects, err := Clients(getter)
	if err != nil {
		return nil, err
	}
	find := func(ctx context.Context) (*release.Release, error) {
		found, err := release.Status(ctx, getter, options)
		return found, live.Failure(ctx, "read the release", err)
	}
	return &collector{client: client, dynamic: objects, clock: clock, release: find, enforcement: enforcementTable(client.CoreV1().RESTClient())}, nil
}
