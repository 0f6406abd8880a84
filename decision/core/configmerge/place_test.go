package configmerge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// TestProblemsOfAnAnnotationStandInItsOrder reads it often, because objects are visited in no order.
func TestProblemsOfAnAnnotationStandInItsOrder(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{
		extension.AnnotationNodeColocationStrategy: `{"midCPUThresholdPercent": 101, "degradeTimeMinutes": 0, "enable": "yes", "cpuCalculatePolicy": "guess", "updateTimeThresholdSeconds": -1}`,
	}}}
	config := Default()
	want := []string{"midCPUThresholdPercent", "degradeTimeMinutes", "enable", "cpuCalculatePolicy", "updateTimeThresholdSeconds"}
	for range 50 {
		var got []string
		for _, problem := range config.Colocation(node).Problems {
			got = append(got, problem.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("paths in order (-want +got):\n%s", diff)
		}
	}
}

func TestLongValuesAreCutBetweenCharacters(t *testing.T) {
	for length := range 60 {
		if text := describe(strings.Repeat("x", length) + strings.Repeat("配", 30)); !utf8.ValidString(text) {
			t.Errorf("%q is cut inside of a character", text)
		}
	}
}
