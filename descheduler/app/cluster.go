package app

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/descheduler/nodemetrics"
	"koordinator.sh/koord/outage"
)

// component is the name of the program in logs, leases and requests.
const component = "koord-descheduler"

// restConfig is the connection to the API server.
func restConfig(s settings) (*rest.Config, error) {
	load := rest.InClusterConfig
	if s.kubeconfig != "" {
		load = func() (*rest.Config, error) { return clientcmd.BuildConfigFromFlags("", s.kubeconfig) }
	}
	config, err := load()
	if err != nil {
		return nil, fmt.Errorf("load the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = s.qps, s.burst
	config.UserAgent = component
	return config, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, schedulingv1alpha1.AddToScheme, slov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the kinds: %w", err)
		}
	}
	return scheme, nil
}

// syncTimeout is how long a controller waits for what it watches, in effect forever: where a kind is not served, or may not be watched,
// a restart would not help.
const syncTimeout = 365 * 24 * time.Hour

// newManager builds the controller manager without anything that listens: the secured port serves health and metrics.
func newManager(ctx context.Context, config *rest.Config, s settings) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	lock, err := newLock(config, s)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		MapperProvider: func(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
			inner, err := apiutil.NewDynamicRESTMapper(config, client)
			if err != nil {
				return nil, err
			}
			return outage.NewMapper(ctx, inner), nil
		},
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject:         map[client.Object]cache.ByObject{&slov1alpha1.NodeMetric{}: {Transform: nodemetrics.Transform}},
		},
		LeaderElection:                      s.elect,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       &s.leaseDuration,
		RenewDeadline:                       &s.renewDeadline,
		RetryPeriod:                         &s.retryPeriod,
		Metrics:                             metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:              "0",
		Logger:                              klog.Background().V(1), // how controllers and caches start is of no interest by default
		Controller:                          controllerconfig.Controller{CacheSyncTimeout: syncTimeout},
	})
	if err != nil {
		return nil, fmt.Errorf("create the manager: %w", err)
	}
	return mgr, nil
}

// newLock returns the leader election lease with the identity of this replica. It has a client of its own, which other requests do not
// delay.
func newLock(config *rest.Config, s settings) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("get the hostname for the lease: %w", err)
	}
	leases, err := coordinationv1.NewForConfig(rest.AddUserAgent(config, "leader-election"))
	if err != nil {
		return nil, fmt.Errorf("create the lease client: %w", err)
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, s.leaseNamespace, s.leaseName, nil, leases,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
}
