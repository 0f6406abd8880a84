package diagnostics

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/certificate"
	definitions "koordinator.sh/koord/controllers/diagnostics/openapi"
)

// Bounds that keep questions from crowding out the controllers of the same process. A question is a few hundred bytes; an
// answer is computed for every node of the cluster.
const (
	maxQuestionBytes      = 64 << 10
	maxQuestionsInFlight  = 16
	maxReadsInFlight      = 64
	requestTimeout        = 34 * time.Second
	shutdownTimeout       = 15 * time.Second
	authenticationRetries = 5 * time.Second
)

// Server is the aggregated API server. It serves on every replica, whether it leads or not.
type Server struct {
	// BindAddress and Port to listen on.
	BindAddress net.IP
	Port        int
	// Kubeconfig to reach the API server that authenticates and authorizes callers; empty inside a cluster.
	Kubeconfig string
	// Certificate of the server.
	Certificate *certificate.SecretProvider
	// Pods and Nodes answer.
	Pods  PodExplainer
	Nodes NodeExplainer
	// Overviews lists nodes.
	Overviews NodeOverviewer
	// Quotas explains ElasticQuotas.
	Quotas QuotaExplainer
	// Placements answers where pods would go.
	Placements PlacementReviewer
	// Agents answer what only the agents of nodes know; nil where they cannot be asked.
	Agents AgentExplainer
	// Identity of this process, and whether it leads.
	Identity string
	Leader   func() bool
	// Clock stamps the answers, and measures how long they take.
	Clock clock.PassiveClock
	// Registerer of the metrics of questions; nil registers nowhere.
	Registerer prometheus.Registerer

	ready atomic.Bool
}

// NeedLeaderElection is false: standbys answer too.
func (*Server) NeedLeaderElection() bool { return false }

// Ready reports whether the server accepts questions; it is a controller-runtime health check.
func (s *Server) Ready(*http.Request) error {
	if !s.ready.Load() {
		return errors.New("the diagnostics API is not serving yet")
	}
	return nil
}

// Start listens and serves until ctx ends, after in-flight questions are answered. It waits for its certificate and for
// the authentication configuration of the cluster; only a port that cannot be opened is an error.
func (s *Server) Start(ctx context.Context) error {
	address := net.JoinHostPort(s.BindAddress.String(), strconv.Itoa(s.Port))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for the diagnostics API: %w", err)
	}
	defer listener.Close()
	if err := s.Certificate.WaitForSecret(ctx); err != nil {
		return ignoreCanceled(ctx, err)
	}
	config, err := s.newConfig(listener)
	if err != nil {
		return err
	}
	if err := s.delegate(ctx, config); err != nil {
		return ignoreCanceled(ctx, err)
	}
	server, err := s.build(config)
	if err != nil {
		return err
	}
	err = server.AddPostStartHook("diagnostics-ready", func(genericapiserver.PostStartHookContext) error {
		s.ready.Store(true)
		return nil
	})
	if err != nil {
		return fmt.Errorf("prepare the diagnostics API: %w", err)
	}
	defer s.ready.Store(false)
	if err := server.PrepareRun().RunWithContext(ctx); err != nil {
		return fmt.Errorf("serve the diagnostics API: %w", err)
	}
	return nil
}

func ignoreCanceled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// delegate lets the cluster authenticate and authorize callers. Its configuration lies in a ConfigMap that may not be
// there, or not be readable, at the first attempt. Why is logged when that changes.
func (s *Server) delegate(ctx context.Context, config *genericapiserver.Config) error {
	lastLogged := ""
	for {
		err := s.applyDelegation(config)
		if err == nil {
			return nil
		}
		if why := err.Error(); why != lastLogged {
			klog.FromContext(ctx).Error(err, "Failed to read the cluster's authentication configuration, will retry", "retryInterval", authenticationRetries)
			lastLogged = why
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(authenticationRetries):
		}
	}
}

func (s *Server) applyDelegation(config *genericapiserver.Config) error {
	authentication := options.NewDelegatingAuthenticationOptions()
	authentication.RemoteKubeConfigFile = s.Kubeconfig
	if err := authentication.ApplyTo(&config.Authentication, config.SecureServing, config.OpenAPIConfig); err != nil {
		return fmt.Errorf("delegate authentication: %w", err)
	}
	authorization := options.NewDelegatingAuthorizationOptions()
	authorization.RemoteKubeConfigFile = s.Kubeconfig
	if err := authorization.ApplyTo(&config.Authorization); err != nil {
		return fmt.Errorf("delegate authorization: %w", err)
	}
	return nil
}

// newConfig is everything but authentication and authorization.
func (s *Server) newConfig(listener net.Listener) (*genericapiserver.Config, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config := genericapiserver.NewConfig(serializer.NewCodecFactory(scheme))
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.SecureServing = &genericapiserver.SecureServingInfo{
		Listener:      listener,
		Cert:          s.Certificate,
		MinTLSVersion: tls.VersionTLS13,
	}
	config.LoopbackClientConfig = &clientrest.Config{}
	config.ExternalAddress = listener.Addr().String()
	config.EnableProfiling = false
	config.EnableIndex = false
	config.MaxRequestBodyBytes = maxQuestionBytes
	config.MaxMutatingRequestsInFlight = maxQuestionsInFlight
	config.MaxRequestsInFlight = maxReadsInFlight
	config.RequestTimeout = requestTimeout
	namer := openapi.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title = "Koordinator diagnostics"
	config.OpenAPIConfig.PostProcessSpec = describePatchV2
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config.Info.Title = "Koordinator diagnostics"
	config.OpenAPIV3Config.PostProcessSpec = describePatchV3
	return config, nil
}

// build installs the resources into a server of the configuration.
func (s *Server) build(config *genericapiserver.Config) (*genericapiserver.GenericAPIServer, error) {
	server, err := config.Complete(nil).New(Component, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("prepare the diagnostics API: %w", err)
	}
	server.ShutdownTimeout = shutdownTimeout
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(diagnosticsv1alpha1.GroupVersion.Group, scheme,
		runtime.NewParameterCodec(scheme), serializer.NewCodecFactory(scheme))
	group.NegotiatedSerializer = textual{group.NegotiatedSerializer}
	resources, err := s.resources(config.Authorization.Authorizer)
	if err != nil {
		return nil, err
	}
	group.VersionedResourcesStorageMap[diagnosticsv1alpha1.GroupVersion.Version] = resources
	if err := server.InstallAPIGroup(&group); err != nil {
		return nil, fmt.Errorf("install the diagnostics API: %w", err)
	}
	return server, nil
}

// resources are what can be asked, by name, each measured.
func (s *Server) resources(decide authorizer.Authorizer) (map[string]rest.Storage, error) {
	nodes := &nodeExplanations{
		explainer: s.Nodes, agents: s.Agents, authorizer: decide, identity: s.Identity, leader: s.Leader, clock: s.Clock,
	}
	served := []struct {
		name, kind string
		creation   creation
	}{
		{"podexplanations", podKind.Kind, &podExplanations{explainer: s.Pods, authorizer: decide}},
		{"nodeexplanations", nodeKind.Kind, nodes},
		{"nodeexplanationbatches", batchKind.Kind, &nodeExplanationBatches{nodes: nodes}},
		{"placementreviews", reviewKind.Kind, &placementReviews{reviewer: s.Placements, authorizer: decide}},
	}
	kinds := []string{overviewKind.Kind, quotaKind.Kind}
	for _, resource := range served {
		kinds = append(kinds, resource.kind)
	}
	instruments, err := newInstruments(s.Registerer, kinds...)
	if err != nil {
		return nil, err
	}
	overviews := &nodeOverviews{overviewer: s.Overviews, authorizer: decide}
	read := func(of getting, kind string) measuredGetting {
		return measuredGetting{getting: of, kind: kind, instruments: instruments, clock: s.Clock}
	}
	resources := map[string]rest.Storage{
		"nodeoverviews":     measuredListing{read(overviews, overviewKind.Kind), overviews},
		"quotaexplanations": read(&quotaExplanations{explainer: s.Quotas, authorizer: decide}, quotaKind.Kind),
	}
	for _, resource := range served {
		resources[resource.name] = measured{creation: resource.creation, kind: resource.kind, instruments: instruments, clock: s.Clock}
	}
	return resources, nil
}
