package history

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/story"
)

var epoch = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func parts(v int64) [2]story.Parts {
	p := story.Parts{Capacity: v, Measured: 1}
	p.Area[0] = v
	return [2]story.Parts{p, p}
}

func sample(second int, values map[string]int64) Sample {
	s := Sample{At: epoch.Add(time.Duration(second) * time.Second), Nodes: map[string][2]story.Parts{}}
	var sum int64
	for name, v := range values {
		s.Nodes[name], sum = parts(v), sum+v
	}
	s.Cluster = parts(sum)
	return s
}

// unmeasured is a sample of a node whose capacity alone is known.
func unmeasured(second int) Sample {
	s := sample(second, map[string]int64{"a": 0})
	s.Nodes["a"] = [2]story.Parts{{Capacity: 5}, {Capacity: 5}}
	return s
}

// read is what the columns of a node show.
func read(h *History, node string, end int, step, hold time.Duration, width int) []int64 {
	return areas(h.Columns(node, CPU, epoch.Add(time.Duration(end)*time.Second), step, hold, width))
}

// areas are what points show; -1 stands for an unknown one.
func areas(points []Point) []int64 {
	var out []int64
	for _, p := range points {
		if p.Known() {
			out = append(out, int64(p.Area[0]))
		} else {
			out = append(out, -1)
		}
	}
	return out
}

func TestColumns(t *testing.T) {
	var h History
	for _, s := range []struct {
		second int
		v      int64
	}{{2, 10}, {4, 20}, {6, 30}, {20, 50}} {
		h.Append(sample(s.second, map[string]int64{"a": s.v}))
	}
	for name, tc := range map[string]struct {
		node       string
		end        int
		step, hold time.Duration
		width      int
		want       []int64
	}{
		"one sample a column":                {"a", 6, 2 * time.Second, 0, 3, []int64{10, 20, 30}},
		"the mean of several":                {"a", 6, 4 * time.Second, 0, 2, []int64{10, 25}},
		"held between samples, not for long": {"a", 20, 2 * time.Second, 5 * time.Second, 8, []int64{30, 30, 30, 30, -1, -1, -1, 50}},
		"what is not known stays unknown":    {"b", 6, 2 * time.Second, time.Minute, 2, []int64{-1, -1}},
		"no node is the cluster":             {"", 6, 2 * time.Second, 0, 1, []int64{30}},
		"no width":                           {"a", 6, time.Second, 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(&h, tc.node, tc.end, tc.step, tc.hold, tc.width)
			if len(got) != len(tc.want) {
				t.Fatalf("got %v, want %v", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Fatalf("got %v, want %v", got, tc.want)
				}
			}
		})
	}
}

func TestVanishedNodesAreForgotten(t *testing.T) {
	var h History
	h.Append(sample(1, map[string]int64{"a": 1, "b": 2}))
	h.Append(sample(2, map[string]int64{"a": 1}))
	if h.Has("b") || !h.Has("a") {
		t.Error("the wrong nodes are remembered")
	}
}

func TestUnmeasuredIsNotZero(t *testing.T) {
	var h History
	h.Append(unmeasured(1))
	if got := read(&h, "a", 1, time.Second, time.Second, 1); got[0] != -1 || h.Measured("a", CPU) {
		t.Errorf("got %v for a node without measurements", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for _, nodes := range []int{0, 1, 30, 1000, 5000} {
		samples := Limit(nodes)
		if samples < minSamples || samples > maxSamples {
			t.Errorf("%d nodes: %d samples", nodes, samples)
		}
		if bytes := samples * (nodes + 1) * pointBytes; bytes > Budget && samples > minSamples {
			t.Errorf("%d nodes: %d bytes exceed the budget", nodes, bytes)
		}
	}
}

func TestAFullRingForgetsTheOldest(t *testing.T) {
	var h History
	for second := 1; second <= 2*maxSamples+7; second++ {
		h.Append(sample(second, map[string]int64{"a": int64(second)}))
	}
	if h.Len() != maxSamples {
		t.Errorf("%d samples, want %d", h.Len(), maxSamples)
	}
	if got := read(&h, "a", 2*maxSamples+7, time.Second, 0, 2); got[0] != 2*maxSamples+6 || got[1] != 2*maxSamples+7 {
		t.Errorf("the latest are %v", got)
	}
}

// TestLatestSamplesSurvive checks that rings that wrap, shrink and grow keep the latest samples in order.
func TestLatestSamplesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h History
		total := 0
		for range rapid.IntRange(1, 4).Draw(t, "phases") {
			others := rapid.SampledFrom([]int{0, 30, 3000, 9000}).Draw(t, "others")
			for range rapid.IntRange(1, 40).Draw(t, "samples") {
				total++
				s := sample(total, map[string]int64{"a": int64(total)})
				h.fit(Limit(others + 1))
				h.Append(s)
			}
		}
		n := min(h.Len(), 20)
		got := read(&h, "a", total, time.Second, 0, n)
		for i, v := range got {
			if want := int64(total - n + 1 + i); v != want {
				t.Fatalf("got %v, want them to end in %d", got, total)
			}
		}
		if want := epoch.Add(time.Duration(total-h.Len()+1) * time.Second); !h.Since().Equal(want) {
			t.Fatalf("since %v, want %v", h.Since(), want)
		}
	})
}
