package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// drawnForecast is any cluster of up to five nodes beside a hot and a cold one, between which pods can move. It comes with the profiles of
// a descheduler, its limits, and how many rounds to look at.
func drawnForecast(t *rapid.T) (cluster *forecasting, rounds int, profiles, limit string) {
	cluster = &forecasting{}
	for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
		cluster.node(fmt.Sprintf("n%d", i), rapid.SliceOfN(rapid.Int64Range(1, 30), 0, 5).Draw(t, "usage")...)
	}
	cluster.node("n-hot", 30, 30, 30).node("n-cold")
	for i := range cluster.Pods {
		rapid.SampledFrom([]func(*corev1.Pod){func(*corev1.Pod) {}, func(*corev1.Pod) {}, bare, withEmptyDir, ofPriority(9500), ofController("StatefulSet", cluster.Pods[i].Name)}).Draw(t, "kind")(&cluster.Pods[i])
	}
	profiles = rapid.SampledFrom([]string{
		profile("LowNodeLoad", atOnce), profile("LowNodeLoad", strings.ReplaceAll(atOnce, "75", "50")), profile("LoadAwareRebalancing", ""),
		profile("LowNodeLoad", atOnce) + profile("LoadAwareRebalancing", "varianceWeight: 10"),
	}).Draw(t, "profiles")
	limit = rapid.SampledFrom([]string{"", "maxNoOfPodsToEvictTotal: 1", "maxNoOfPodsToEvictPerNode: 1"}).Draw(t, "limit")
	return cluster, rapid.IntRange(1, 4).Draw(t, "rounds"), profiles, limit
}

// TestTheMovesOfAForecastAddUp: pods move from where they are, within the limits of a round, and take their usage with them.
func TestTheMovesOfAForecastAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cluster, rounds, profiles, limit := drawnForecast(t)
		answer := cluster.forecast(t, rounds, profiles, limit)
		on := map[string]string{}
		for _, p := range cluster.Pods {
			on[p.Name] = p.Spec.NodeName
		}
		inRound, last := map[string]int{}, int32(1)
		for _, move := range answer.Moves {
			if on[move.Name] != move.From || move.To == move.From || move.To == "" {
				t.Errorf("%s moves from %s to %s, and is on %s", move.Name, move.From, move.To, on[move.Name])
			}
			on[move.Name] = move.To
			if move.Round < last || move.Round > int32(rounds) || move.Seconds != int64(move.Round-1)*answer.IntervalSeconds {
				t.Errorf("round %d after %d of %d, in %d s", move.Round, last, rounds, move.Seconds)
			}
			last = move.Round
			inRound[fmt.Sprint(move.Round)]++
			inRound[fmt.Sprint(move.Round, move.From)]++
			if limit == "maxNoOfPodsToEvictTotal: 1" && inRound[fmt.Sprint(move.Round)] > 1 || limit == "maxNoOfPodsToEvictPerNode: 1" && inRound[fmt.Sprint(move.Round, move.From)] > 1 {
				t.Errorf("%s is not kept: %q", limit, movesOf(answer))
			}
		}
		before, after := map[string]int64{}, map[string]int64{}
		for _, n := range answer.Nodes {
			for _, r := range n.Resources {
				before[n.Profile+n.Pool+r.Resource] += r.Before
				after[n.Profile+n.Pool+r.Resource] += r.After
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("usage of all nodes (-before +after):\n%s", diff)
		}
		wantMoves := phrase.Counted(len(answer.Moves), "pod") + " would move "
		if moves := strings.HasPrefix(answer.Message, wantMoves); moves != (len(answer.Moves) > 0) || moves == strings.HasPrefix(answer.Message, "nothing moves ") {
			t.Errorf("%d moves, and %q", len(answer.Moves), answer.Message)
		}
	})
}

// TestAForecastDoesNotDependOnTheOrderOfItsInput, and does not change it.
func TestAForecastDoesNotDependOnTheOrderOfItsInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cluster, rounds, profiles, limit := drawnForecast(t)
		other := &forecasting{MigrationSnapshot{
			Nodes: shuffled(t, cluster.Nodes, "order of nodes"), Pods: shuffled(t, cluster.Pods, "order of pods"), Metrics: shuffled(t, cluster.Metrics, "order of metrics"),
		}}
		pods, metrics := (&corev1.PodList{Items: cluster.Pods}).DeepCopy(), (&slov1alpha1.NodeMetricList{Items: cluster.Metrics}).DeepCopy()
		if diff := cmp.Diff(cluster.forecast(t, rounds, profiles, limit), other.forecast(t, rounds, profiles, limit)); diff != "" {
			t.Errorf("the same forecast in another order (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(pods.Items, cluster.Pods); diff != "" {
			t.Errorf("pods were changed (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(metrics.Items, cluster.Metrics); diff != "" {
			t.Errorf("NodeMetrics were changed (-before +after):\n%s", diff)
		}
	})
}
