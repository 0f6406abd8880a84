package manager

import (
	"fmt"
	"maps"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/controllers/noderesource"
	"koordinator.sh/koord/controllers/nodeslo"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/controllers/webhooks"
)

// restConfig is the connection to the API server.
func restConfig(o *Options) (*rest.Config, error) {
	load := rest.InClusterConfig
	if o.Kubeconfig != "" {
		load = func() (*rest.Config, error) { return clientcmd.BuildConfigFromFlags("", o.Kubeconfig) }
	}
	config, err := load()
	if err != nil {
		return nil, fmt.Errorf("load the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = o.KubeAPIQPS, o.KubeAPIBurst
	config.UserAgent = "koord-manager"
	return config, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, slov1alpha1.AddToScheme, configv1alpha1.AddToScheme, schedulingsigsv1alpha1.AddToScheme,
		schedulingv1alpha1.AddToScheme, topologyv1alpha1.AddToScheme, quotav1alpha1.AddToScheme, analysisv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the kinds: %w", err)
		}
	}
	return scheme, nil
}

// newCache returns how the manager gets its cache.
func newCache(config sloconfig.Options) cache.NewCacheFunc {
	return func(connection *rest.Config, options cache.Options) (cache.Cache, error) {
		byObject, err := cached(config, options.Mapper)
		if err != nil {
			return nil, err
		}
		options.ByObject = byObject
		return cache.New(connection, options)
	}
}

// cached is what the controllers read and no more: pods that occupy a node, and the configuration's ConfigMaps. Nodes keep their managed
// fields, which say when their resources were last written.
func cached(config sloconfig.Options, mapper meta.RESTMapper) (map[client.Object]cache.ByObject, error) {
	configMap, byNamespace := sloconfig.ByObject(config)
	occupying := fields.AndSelectors(
		fields.OneTermNotEqualSelector("spec.nodeName", ""),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	)
	byObject, err := webhooks.ByObject(mapper)
	if err != nil {
		return nil, err
	}
	maps.Copy(byObject, noderesource.ByObject())
	byObject[configMap] = byNamespace
	byObject[&slov1alpha1.NodeMetric{}] = cache.ByObject{Transform: latestUsage}
	byObject[&slov1alpha1.NodeSLO{}] = cache.ByObject{Transform: nodeslo.Trim}
	byObject[&corev1.Pod{}] = cache.ByObject{Field: occupying, Transform: cache.TransformStripManagedFields()}
	for _, object := range []client.Object{
		&corev1.Namespace{}, &schedulingsigsv1alpha1.ElasticQuota{},
		&configv1alpha1.ClusterColocationProfile{}, &quotav1alpha1.ElasticQuotaProfile{}, &analysisv1alpha1.Recommendation{},
		&schedulingv1alpha1.ElasticWorkers{},
	} {
		byObject[object] = cache.ByObject{Transform: cache.TransformStripManagedFields()}
	}
	return byObject, nil
}

// latestUsage drops the percentiles of a NodeMetric, which are most of it and which no controller reads, and who wrote it.
func latestUsage(object any) (any, error) {
	metric, ok := object.(*slov1alpha1.NodeMetric)
	if !ok {
		return object, nil
	}
	metric.ManagedFields = nil
	if usage := metric.Status.NodeMetric; usage != nil {
		usage.AggregatedNodeUsages, usage.AggregatedSystemUsages = nil, nil
	}
	return metric, nil
}

// newLock returns the leader election lease with the identity of this replica.
func newLock(config *rest.Config, namespace string) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("get the hostname for the lease: %w", err)
	}
	leases, err := coordinationv1.NewForConfig(rest.AddUserAgent(config, "leader-election"))
	if err != nil {
		return nil, fmt.Errorf("create the lease client: %w", err)
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, namespace, leaseName, nil, leases,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
}
