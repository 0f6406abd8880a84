package release

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// fieldManager is the name under which objects are applied. It is Helm's own, so that a release installed here and upgraded
// with helm, or the other way round, meets no conflict with itself.
const fieldManager = "helm"

var setFieldManager = sync.OnceFunc(func() { kube.ManagedFieldsManager = fieldManager })

// session is a connection to one cluster for one release.
type session struct {
	options Options
	helm    *action.Configuration
	dynamic dynamic.Interface
	client  kubernetes.Interface
	mapper  meta.RESTMapper
}

// getter is a RESTClientGetter whose clients are not held back by client-go's default of 5 requests a second, at which an
// installation takes tens of seconds. A limit set by the caller stays.
type getter struct {
	genericclioptions.RESTClientGetter
}

// ToRESTConfig returns the wrapped configuration with the limits raised.
func (g getter) ToRESTConfig() (*rest.Config, error) {
	config, err := g.RESTClientGetter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	if config.QPS == 0 && config.RateLimiter == nil {
		config.QPS, config.Burst = 100, 200
	}
	return config, nil
}

func newSession(clients genericclioptions.RESTClientGetter, options Options) (*session, error) {
	setFieldManager()
	clients = getter{clients}
	config, err := clients.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	s := &session{options: options, helm: action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))}
	if err := s.helm.Init(clients, options.Namespace, "secret"); err != nil {
		return nil, fmt.Errorf("create the Helm client: %w", err)
	}
	if client, ok := s.helm.KubeClient.(*kube.Client); ok {
		client.Namespace = options.Namespace
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create the client: %w", err)
	}
	if s.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create the client: %w", err)
	}
	if s.mapper, err = clients.ToRESTMapper(); err != nil {
		return nil, fmt.Errorf("discover the API resources: %w", err)
	}
	return s, nil
}

// last returns the newest revision of the release, or nil when there is none.
func (s *session) last(ctx context.Context) (*release.Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := s.helm.Releases.Last(s.options.ReleaseName)
	if errors.Is(err, driver.ErrReleaseNotFound) || errors.Is(err, driver.ErrNoDeployedReleases) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read release %q: %w", s.options.ReleaseName, err)
	}
	typed, ok := found.(*release.Release)
	if !ok {
		return nil, fmt.Errorf("read release %q: unknown format %T", s.options.ReleaseName, found)
	}
	if typed.Chart == nil || typed.Chart.Metadata == nil || typed.Chart.Metadata.Name != chartName {
		return nil, foreignRelease(typed)
	}
	return typed, nil
}
