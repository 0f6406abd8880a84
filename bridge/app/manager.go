package app

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/bridge/holdings"
	"koordinator.sh/koord/outage"
)

// Terms of the lease. A leader that hangs is followed after leaseDuration, and has stopped writing by then.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// newManager builds the controller manager without anything that listens: the secured port serves health and metrics.
func newManager(ctx context.Context, config *rest.Config, options *Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, schedulingv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the kinds: %w", err)
		}
	}
	lock, err := newLock(config, options)
	if err != nil {
		return nil, err
	}
	lease, renew, retry := leaseDuration, renewDeadline, retryPeriod
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
			ByObject:         map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: holdings.Transform}},
		},
		LeaderElection:                      options.LeaderElect,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       &lease,
		RenewDeadline:                       &renew,
		RetryPeriod:                         &retry,
		Metrics:                             metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:              "0",
		Logger:                              klog.Background().V(1), // how caches start is of no interest by default
	})
	if err != nil {
		return nil, fmt.Errorf("create the manager: %w", err)
	}
	return mgr, nil
}

// newLock returns the lease with the identity of this replica. It has a client of its own, which other requests do not delay.
func newLock(config *rest.Config, options *Options) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("get the hostname for the lease: %w", err)
	}
	leases, err := coordinationv1.NewForConfig(rest.AddUserAgent(config, "leader-election"))
	if err != nil {
		return nil, fmt.Errorf("create the lease client: %w", err)
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, options.LeaseNamespace, component, nil, leases,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
}
