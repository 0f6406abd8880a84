package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const (
	// writeTimeout bounds one report.
	writeTimeout = 30 * time.Second
	// discoveryInterval is how often the API server is asked whether it serves NodeMetrics yet.
	discoveryInterval = 500 * time.Millisecond
)

// clients of the API server: core for nodes and pods, metrics to watch NodeMetrics and writes to report, with the
// fleet's rate limit.
type clients struct {
	core            kubernetes.Interface
	metrics, writes rest.Interface
}

func newClients(config *rest.Config, qps float32) (*clients, error) {
	base := rest.CopyConfig(config)
	if base.UserAgent == "" {
		base.UserAgent = rest.DefaultKubernetesUserAgent() + "/simulated-koordlets"
	}
	core := rest.CopyConfig(base)
	core.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	core.ContentType = runtime.ContentTypeProtobuf
	coreClient, err := kubernetes.NewForConfig(core)
	if err != nil {
		return nil, fmt.Errorf("make a client for nodes and pods: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := slov1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register NodeMetric: %w", err)
	}
	base.GroupVersion = &slov1alpha1.GroupVersion
	base.APIPath = "/apis"
	base.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	base.AcceptContentTypes, base.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	metrics, err := rest.RESTClientFor(base)
	if err != nil {
		return nil, fmt.Errorf("make a client for NodeMetrics: %w", err)
	}
	writing := rest.CopyConfig(base)
	writing.Timeout = writeTimeout
	writing.RateLimiter = nil
	writing.QPS, writing.Burst = qps, max(int(qps), 1)
	writes, err := rest.RESTClientFor(writing)
	if err != nil {
		return nil, fmt.Errorf("make a client for reports: %w", err)
	}
	return &clients{core: coreClient, metrics: metrics, writes: writes}, nil
}

// awaitNodeMetrics waits until the API server serves NodeMetrics, so that an informer started too early does not lose
// half a minute to its back-off.
func (c *clients) awaitNodeMetrics(ctx context.Context) error {
	logger, told := klog.FromContext(ctx), false
	return wait.PollUntilContextCancel(ctx, discoveryInterval, true, func(ctx context.Context) (bool, error) {
		// The discovery client's own methods take no context, and would outlive this one by half a minute.
		list := &metav1.APIResourceList{}
		err := c.core.Discovery().RESTClient().Get().AbsPath("apis", slov1alpha1.GroupVersion.Group, slov1alpha1.GroupVersion.Version).Do(ctx).Into(list)
		served := err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool {
			return r.Name == "nodemetrics"
		})
		if !served && !told {
			logger.Info("waiting until the API server serves NodeMetrics", "reason", err)
			told = true
		}
		return served, nil
	})
}
