package usageclass

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

const (
	dayNodes    = 24
	dayMinutes  = 24 * 60
	nodeMilli   = 32000
	podsPerDay  = 12 * dayNodes
	podRequest  = 2000
	stepMinutes = 5
)

// classes of the day, with the hour of their peak.
var dayClasses = []struct {
	name string
	peak float64
}{{"office", 10}, {"shop", 20}, {"video", 23}, {"etl", 3}}

// usage of one pod at a minute of the day: 10 % of its request at rest, all of it at its class' peak, and a little noise.
func usage(class int, minute int, noise float64) float64 {
	hours := math.Mod(float64(minute)/60-dayClasses[class].peak+36, 24) - 12 // from the peak, -12 to 12
	return podRequest * (0.1 + 0.9*math.Exp(-hours*hours/4)) * noise
}

// place puts pods on nodes one by one: the most room first, as the load-aware plugin and LeastAllocated would at a quiet
// hour, plus the score of the usage class with a weight. It returns the classes of the pods on each node.
func place(order []int, weight int64) [][]int {
	nodes, shares := make([][]int, dayNodes), make([]Shares, dayNodes)
	args := defaulted(nil)
	for _, class := range order {
		best, bestScore := -1, int64(-1)
		for n := range nodes {
			if shares[n] == nil {
				shares[n] = Shares{}
			}
			in := Input{Args: args, Class: dayClasses[class].name, Pod: Share{1, podRequest}, Taken: shares[n][dayClasses[class].name], Allocatable: nodeMilli}
			requested := int64(len(nodes[n])+1) * podRequest
			if requested > nodeMilli || !Filter(in).Passed() {
				continue
			}
			if score := (nodeMilli-requested)*100/nodeMilli + weight*Score(in); score > bestScore {
				best, bestScore = n, score
			}
		}
		nodes[best] = append(nodes[best], class)
		shares[best].Add(dayClasses[class].name, Share{1, podRequest})
	}
	return nodes
}

// jointPeak is the largest usage of any node at any time, in percent of the node.
func jointPeak(nodes [][]int, seed uint64) float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	peak := 0.0
	for _, pods := range nodes {
		noise := make([]float64, len(pods))
		for i := range noise {
			noise[i] = 0.9 + 0.2*random.Float64()
		}
		for minute := 0; minute < dayMinutes; minute += stepMinutes {
			sum := 0.0
			for i, class := range pods {
				sum += usage(class, minute, noise[i])
			}
			peak = max(peak, sum*100/nodeMilli)
		}
	}
	return peak
}

// TestMixedClassesLowerTheJointPeak runs a simulated day twice, for several orders in which the pods may arrive: services
// are rolled out one after the other, so that pods of one class come in a row and land side by side.
func TestMixedClassesLowerTheJointPeak(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		order := arrivals(random)
		before, after := jointPeak(place(order, 0), seed), jointPeak(place(order, 2), seed)
		t.Logf("seed %d: joint peak %.0f%% without, %.0f%% with usage classes", seed, before, after)
		if after > 0.9*before {
			t.Errorf("seed %d: the joint peak went from %.0f%% to %.0f%%, want at least a tenth less", seed, before, after)
		}
	}
}

// arrivals are the classes of the pods in the order they come: bursts of one class, of random length.
func arrivals(random *rand.Rand) []int {
	var order []int
	for len(order) < podsPerDay {
		class := random.IntN(len(dayClasses))
		for range 1 + random.IntN(dayNodes/2) {
			order = append(order, class)
		}
	}
	return order[:podsPerDay]
}

func BenchmarkScore(b *testing.B) {
	in := Input{Args: defaulted(nil), Class: "c", Pod: Share{1, 500}, Taken: Share{3, 9000}, Allocatable: 32000}
	b.ReportAllocs()
	for b.Loop() {
		if Score(in) < 0 {
			b.Fatal(fmt.Sprint(in))
		}
	}
}
