package jobinsight

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheKindsSeenLongestAgoAreForgotten(t *testing.T) {
	store := NewStore(64)
	for i := range 200 {
		store.Observe(ended(Kind{Application: fmt.Sprintf("app-%d", i)}, i, Completed, 1, time.Minute))
		if store.Len() > 64 {
			t.Fatalf("%d kinds after %d runs, want 64 at most", store.Len(), i+1)
		}
	}
	for name, want := range map[string]bool{"app-0": false, "app-100": false, "app-199": true} {
		if _, got := store.entries[place{ByApplication, Kind{Application: name}}]; got != want {
			t.Errorf("%s is kept: %v, want %v", name, got, want)
		}
	}
	if e := store.entries[place{level: ByAll}]; e == nil || e.of[Duration].runs != 200 {
		t.Errorf("all jobs are %+v, want 200 runs", e)
	}
}

func TestNamesOfAnyLengthAreKept(t *testing.T) {
	kind := Kind{User: strings.Repeat("用户", 100), Application: "a\x00b"}
	store := repeated(kind, 5, Completed, 1, time.Minute)
	again, loss := Decode(store.Encode(0), 0)
	if got := again.Predict(kind, 0.9, nil).Of(Duration); loss.Any() || got == nil || got.Level != ByKind {
		t.Errorf("%+v, lost %s", got, loss.String())
	}
}

func TestAnEncodedStoreIsReadAsItWas(t *testing.T) {
	for _, n := range []int{0, 1, 30, 5000} {
		store := busy(n)
		parts := store.Encode(0)
		again, loss := Decode(parts, 0)
		if loss.Any() {
			t.Fatalf("after %d runs: %s", n, loss.String())
		}
		if diff := cmp.Diff(parts, again.Encode(0)); diff != "" {
			t.Errorf("after %d runs it is encoded differently:\n%s", n, diff)
		}
		if !again.Last().Equal(store.Last()) || again.Len() != store.Len() {
			t.Errorf("after %d runs: %d kinds up to %s, want %d up to %s", n, again.Len(), again.Last(), store.Len(), store.Last())
		}
		for at := range store.entries {
			for _, m := range Metrics() {
				want, got := store.Predict(at.kind, 0.9, nil).Of(m), again.Predict(at.kind, 0.9, nil).Of(m)
				if (want == nil) != (got == nil) || want != nil && math.Abs(math.Log(want.High/got.High)) > 1e-3 {
					t.Errorf("%s of %s: %+v, want %+v", m, at.kind, got, want)
				}
			}
		}
	}
}

func TestALargeStoreIsInParts(t *testing.T) {
	store := NewStore(0)
	for i := range 3000 {
		store.Observe(ended(Kind{Queue: "q", Application: fmt.Sprintf("app-%d", i)}, i, Completed, 1, time.Minute))
	}
	parts := store.Encode(64 << 10)
	for i, part := range parts {
		if len(part) > 64<<10 {
			t.Errorf("part %d is of %d bytes", i+1, len(part))
		}
	}
	if len(parts) < 3 {
		t.Fatalf("%d parts", len(parts))
	}
	_, loss := Decode(slices.Delete(slices.Clone(parts), 1, 2), 0)
	if loss.Kinds == 0 || loss.Calibration {
		t.Errorf("without one part: %s", loss.String())
	}
}

func TestWhatIsDamagedIsLeftOutAndReported(t *testing.T) {
	store := NewStore(0)
	for i := range 1000 {
		store.Observe(ended(Kind{Application: fmt.Sprintf("app-%d", i)}, i, Completed, 1, time.Minute))
	}
	whole := store.Encode(1 << 20)[0]
	calibrationEnd := bytes.Index(whole[headerSize+2:], []byte{marker >> 8, marker & 0xff}) + headerSize + 2
	change := func(at int) []byte {
		out := bytes.Clone(whole)
		out[at] ^= 0x10
		return out
	}
	tests := map[string]struct {
		data            []byte
		wantCalibration bool
		wantKindsWithin [2]int
		wantProblem     string
	}{
		"cut in the last block":             {whole[:len(whole)-1], false, [2]int{1, 150}, "it ends after"},
		"cut in the calibration":            {whole[:1000], true, [2]int{2001, 2001}, "it ends after"},
		"cut behind the calibration":        {whole[:calibrationEnd], false, [2]int{2001, 2001}, ""},
		"a bit of a kind is wrong":          {change(calibrationEnd + 500), false, [2]int{50, 300}, "its checksum is wrong"},
		"a bit of the calibration is wrong": {change(500), true, [2]int{0, 0}, "its checksum is wrong"},
		"a length is wrong":                 {change(calibrationEnd + 3), false, [2]int{50, 300}, "it ends after"},
		"a marker is wrong":                 {change(calibrationEnd), false, [2]int{50, 300}, "it begins with"},
		"another version":                   {change(4), true, [2]int{0, 0}, "do not begin as version 1"},
		"nothing":                           {nil, true, [2]int{0, 0}, "0 bytes do not begin"},
		"text":                              {[]byte("what is this, a store?"), true, [2]int{0, 0}, "do not begin"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, loss := Decode([][]byte{test.data}, 0)
			if loss.Calibration != test.wantCalibration || loss.Kinds < test.wantKindsWithin[0] || loss.Kinds > test.wantKindsWithin[1] || !loss.Any() {
				t.Errorf("%s; want %d to %d kinds, calibration %v", loss.String(), test.wantKindsWithin[0], test.wantKindsWithin[1], test.wantCalibration)
			}
			if !strings.Contains(loss.String(), test.wantProblem) {
				t.Errorf("%q does not say %q", loss.String(), test.wantProblem)
			}
			got.Observe(ended(daily, 1, Completed, 1, time.Minute)) // it goes on
		})
	}
}

func TestOfTwoVersionsOfAKindTheLaterCounts(t *testing.T) {
	old, young := repeated(daily, 3, Completed, 1, time.Minute), repeated(daily, 9, Completed, 1, time.Minute)
	for _, parts := range [][][]byte{{old.Encode(0)[0], young.Encode(0)[0]}, {young.Encode(0)[0], old.Encode(0)[0]}} {
		got, _ := Decode(parts, 0)
		if runs := got.Predict(daily, 0.9, nil).Of(Memory).Runs; runs != 9 {
			t.Errorf("%d runs, want 9", runs)
		}
	}
}

// FuzzDecode: whatever is decoded predicts amounts in order, and what is encoded of it is read without a loss.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(nil), 0, byte(0))
	for _, n := range []int{1, 40} {
		f.Add(busy(n).Encode(0)[0], 40, byte(1))
	}
	f.Add(busy(3).entries[place{level: ByAll}].append([]byte{kindsBlock}, place{level: ByAll}), 5, byte(0))
	f.Add(busy(3).encodeCalibration(), 5, byte(0))
	read := busy(3)
	read.Take("yarn/prod", "a", noon, noon)
	f.Add(read.cursors["yarn/prod"].append([]byte{cursorBlock}, "yarn/prod"), 12, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at int, change byte) {
		if at >= 0 && at < len(data) {
			data = bytes.Clone(data)
			data[at] ^= change
		}
		header := busy(0).Encode(0)[0][:headerSize:headerSize]
		store, loss := Decode([][]byte{data, appendBlock(header, data)}, 100) // also as a block whose checksum is right
		_ = loss.String()
		store.Observe(ended(daily, 1, OOMKilled, 3, time.Hour))
		for at := range store.entries {
			for _, m := range Metrics() {
				if got := store.Predict(at.kind, 0.9, nil).Of(m); got != nil && !(got.Low <= got.Point && got.Point <= got.High && got.High <= most[m]) {
					t.Errorf("%s of %s: %+v", m, at.kind, got)
				}
			}
			if got, ok := store.Remaining(at.kind, time.Hour, 0.9); ok && !(got.Low >= 0 && got.Low <= got.High) {
				t.Errorf("remaining of %s: %+v", at.kind, got)
			}
		}
		if _, loss := Decode(store.Encode(0), 0); loss.Any() {
			t.Errorf("what was decoded is read with a loss: %s", loss.String())
		}
	})
}
