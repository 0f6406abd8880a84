package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	corev1 "k8s.io/api/core/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source"
)

const (
	// dialTimeout bounds how long an address that swallows packets keeps a person waiting.
	dialTimeout = 5 * time.Second
	// defaultTimeout bounds one request when the user set no --request-timeout.
	defaultTimeout = 60 * time.Second
	// clientcmdDefault is where kubectl looks without any configuration, and where no cluster has been for many years.
	clientcmdDefault = "localhost:8080"
	// retries of a request that the server put off with 429 or 503 and Retry-After.
	retries = 1
)

// Options of a live source.
type Options struct {
	// UserAgent names the program to the API server.
	UserAgent string
	// Warn receives the API server's warnings; nil drops them.
	Warn func(string)
	// Context, Cluster and User that the user chose in place of those the kubeconfig names; empty for its own.
	Context, Cluster, User string
	// Clock that ages and expiry are counted by; nil is the real one.
	Clock clock.PassiveClock
	// SystemNamespace holds slo-controller-config and koord-scheduler-config; default koordinator-system.
	SystemNamespace string
}

// Source is a running cluster. It connects on the first question.
type Source struct {
	config  clientcmd.ClientConfig
	options Options
	connect func() (*clients, error)
}

var _ source.Source = (*Source)(nil)

// New returns a source for the cluster of a kubeconfig. It touches neither file nor network.
func New(config clientcmd.ClientConfig, options Options) *Source {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.SystemNamespace == "" {
		options.SystemNamespace = "koordinator-system"
	}
	s := &Source{config: config, options: options}
	s.connect = sync.OnceValues(s.newClients)
	return s
}

// clients for the API groups asked. They share their connections.
type clients struct {
	core        rest.Interface
	slo         rest.Interface
	diagnostics rest.Interface
	analysis    rest.Interface
	scheduling  rest.Interface
	profile     rest.Interface
	// group makes the client of a group that a function describes.
	group  func(func(*rest.Config)) (rest.Interface, error)
	server string
}

func (s *Source) newClients() (*clients, error) {
	config, err := ClientConfig(s.config, s.options)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, ConfigFailure(err)
	}
	c := &clients{server: config.Host, group: func(group func(*rest.Config)) (rest.Interface, error) {
		of := rest.CopyConfig(config)
		group(of)
		client, err := rest.RESTClientForConfigAndClient(of, transport)
		if err != nil {
			return nil, ConfigFailure(err)
		}
		return client, nil
	}}
	groups := []struct {
		into *rest.Interface
		make func(*rest.Config)
	}{
		{&c.core, coreGroup}, {&c.slo, ownGroup(slov1alpha1.GroupVersion)}, {&c.diagnostics, ownGroup(diagnosticsv1alpha1.GroupVersion)},
		{&c.analysis, ownGroup(analysisv1alpha1.GroupVersion)}, {&c.scheduling, ownGroup(schedulingv1alpha1.GroupVersion)},
		{&c.profile, ownGroup(configv1alpha1.GroupVersion)},
	}
	for _, group := range groups {
		if *group.into, err = c.group(group.make); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// of returns the client of the group that serves a kind.
func (c *clients) of(kind source.Kind) (rest.Interface, error) {
	switch {
	case kind.Plural == "":
		return nil, fmt.Errorf("unknown kind %q", kind)
	case kind.API.Group == "":
		return c.core, nil
	default:
		return c.group(ownGroup(kind.API.GroupVersion()))
	}
}

func coreGroup(config *rest.Config) {
	config.APIPath = "/api"
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
}

var ownScheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	// Adding constant types to an empty scheme cannot fail.
	_ = slov1alpha1.AddToScheme(s)
	_ = diagnosticsv1alpha1.AddToScheme(s)
	return s
})

// ownGroup is a group whose objects are read as JSON.
func ownGroup(version schema.GroupVersion) func(*rest.Config) {
	return func(config *rest.Config) {
		config.APIPath = "/apis"
		config.GroupVersion = &version
		config.NegotiatedSerializer = serializer.NewCodecFactory(ownScheme()).WithoutConversion()
		config.ContentType = runtime.ContentTypeJSON
		config.AcceptContentTypes = runtime.ContentTypeJSON
	}
}

// Describe says which cluster the answers come from. Only the server's version needs a connection.
func (s *Source) Describe(ctx context.Context) (source.Cluster, error) {
	cluster := source.Cluster{}
	raw, err := s.config.RawConfig()
	if err == nil {
		cluster.Context = cmp.Or(s.options.Context, raw.CurrentContext)
		if current, ok := raw.Contexts[cluster.Context]; ok {
			cluster.Name, cluster.User = current.Cluster, current.AuthInfo
		}
		cluster.Name, cluster.User = cmp.Or(s.options.Cluster, cluster.Name), cmp.Or(s.options.User, cluster.User)
	}
	if namespace, _, err := s.config.Namespace(); err == nil {
		cluster.Namespace = namespace
	}
	if config, err := s.config.ClientConfig(); err == nil && config.Impersonate.UserName != "" {
		cluster.User = config.Impersonate.UserName
	}
	c, err := s.connect()
	if err != nil {
		return cluster, err
	}
	cluster.Server = c.server
	version, err := serverVersion(ctx, c)
	cluster.ServerVersion = version
	return cluster, err
}

func canceled(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled)
}
