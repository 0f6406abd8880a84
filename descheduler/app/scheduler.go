package app

import (
	"context"
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/schedulerconfig"
	"koordinator.sh/koord/schedulerclient"
)

// newSchedulerClient asks koord-scheduler where pods would go; nil without --scheduler-endpoint. The certificates that verify it come from
// --scheduler-ca-file, or from the Secret of the serving certificate: one CA issues those of all components.
func newSchedulerClient(config *rest.Config, options *Options, serving func() []byte) (*schedulerclient.Client, error) {
	if options.SchedulerEndpoint == "" {
		return nil, nil
	}
	bundle := serving
	if options.SchedulerCAFile != "" {
		bundle = func() []byte { return readBundle(options.SchedulerCAFile) }
	}
	client, err := schedulerclient.New(config, options.SchedulerEndpoint, bundle)
	if err != nil {
		return nil, fmt.Errorf("--scheduler-endpoint: %w", err)
	}
	return client, nil
}

// readBundle reads certificates for each question, so that new ones are taken up.
func readBundle(file string) []byte {
	data, err := os.ReadFile(file)
	if err != nil {
		klog.Background().Error(err, "Failed to read the CA certificates for koord-scheduler")
		return nil
	}
	return data
}

// schedulerArgs are the arguments of LoadAwareScheduling in the scheduler's ConfigMap; nil, which stands for the defaults, without one.
func (e *environment) schedulerArgs(ctx context.Context) (*loadaware.Args, error) {
	object, err := e.client.CoreV1().ConfigMaps(configuration.DefaultNamespace).Get(ctx, configuration.SchedulerConfigMapName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the thresholds of koord-scheduler: %w", err)
	}
	found, err := schedulerconfig.Read(object.Data)
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", object.Namespace, object.Name, err)
	}
	return found.LoadAware, nil
}

// reviewing counts the questions to koord-scheduler.
type reviewing struct {
	client *schedulerclient.Client
	total  *prometheus.CounterVec
}

// ReviewPlacements asks one question.
func (r reviewing) ReviewPlacements(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
	answer, err := r.client.ReviewPlacements(ctx, question)
	result := resultAnswered
	switch {
	case err != nil:
		result = resultFailed
	case !answer.Status.Origin.Leader:
		result = resultStandby
	}
	r.total.WithLabelValues(result).Inc()
	return answer, err
}
