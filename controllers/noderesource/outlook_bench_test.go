package noderesource

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// BenchmarkOutlook is what a pass over ElasticWorkers asks of one node: what it will offer, for a node of ten pods that was observed for a day.
func BenchmarkOutlook(b *testing.B) {
	for _, predicted := range []bool{false, true} {
		b.Run(fmt.Sprintf("predicted=%t", predicted), func(b *testing.B) {
			config, _ := store(b, predicting).Config()
			p, in := NewPredictions(), busyNode(1, 10)
			if !predicted {
				in.Node.Labels = nil
			}
			in.Strategy = config.Colocation(in.Node)
			for minutes := 0; minutes <= 24*60; minutes += 10 {
				in.Now = noon.Add(time.Duration(minutes) * time.Minute)
				in.Metric.Status.UpdateTime = &metav1.Time{Time: in.Now}
				in.Predictions = p.Of(in)
			}
			spec := diagnosticsv1alpha1.NodeExplanationSpec{
				NodeName: in.Node.Name, Outlook: true, Resources: []string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory"},
			}
			for b.Loop() {
				in := in
				in.Predictions, in.Steadiness = p.Of(in), p.steady.of(in.Node.Name)
				in.Ahead = p.Ahead(in)
				if answer := overcommit.ExplainNode(in, spec); predicted && len(answer.Outlook) == 0 {
					b.Fatal("nothing is predicted")
				}
			}
		})
	}
}
