package printer

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// workloadViews are workloads as they are listed.
func workloadViews() map[string]view {
	return map[string]view{
		"top-workloads": func(w io.Writer, o Options) error { return WorkloadOverviews(w, workloadsFixture(), o) },
		"top-workloads-wide": func(w io.Writer, o Options) error {
			o.Wide, o.WithNamespace = true, true
			return WorkloadOverviews(w, workloadsFixture(), o)
		},
	}
}

func workloadsFixture() *diagnosticsv1alpha1.WorkloadOverviewList {
	resource := func(requested, batch, used, idle, recommended int64) diagnosticsv1alpha1.WorkloadResource {
		return diagnosticsv1alpha1.WorkloadResource{Requested: requested, Batch: batch, Used: &used, Idle: &idle, Recommended: &recommended}
	}
	return &diagnosticsv1alpha1.WorkloadOverviewList{Items: []diagnosticsv1alpha1.WorkloadOverview{
		{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "deployment/web"}, Pods: 3, Waiting: 1, Measured: 2,
			CPU: resource(12000, 0, 6000, 3000, 4500), Memory: resource(24<<30, 0, 6<<30, 10<<30, 12<<30), ObservedAt: before(42 * time.Second),
		},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "sparkapplication/pi"}, Pods: 2, CPU: diagnosticsv1alpha1.WorkloadResource{Requested: 4000, Batch: 4000}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod/shell"}, Pods: 1},
	}}
}
