package predict

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// evenings is a service that needs one core, and three from 18 to 20 o'clock, over days that end at noon.
func evenings(days int) *Record {
	r := NewRecord()
	r.Remember(Profile{Name: "seasonal"})
	for at := noon.Add(-time.Duration(days) * day); at.Before(noon); at = at.Add(RecordStep) {
		cores := 1.0
		if at.Hour() == 18 || at.Hour() == 19 {
			cores = 3
		}
		r.Observe(at, []Sample{used("web", cores)})
	}
	return r
}

func TestAhead(t *testing.T) {
	tests := map[string]struct {
		record  *Record
		profile string
		want    []float64 // within 1, 6, 7 and 24 hours
	}{
		"a profile that knows the hours sees the evening when it is near": {evenings(4), "seasonal", []float64{2.824, 2.824, 3.3, 3.3}},
		"one that does not predicts the same for all":                     {evenings(4), "rc-like", []float64{3, 3, 3, 3}},
		"nothing is observed yet":                                         {NewRecord(), "seasonal", nil},
	}
	horizons := []time.Duration{time.Hour, 6 * time.Hour, 7 * time.Hour, day}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []float64
			for i, forecast := range test.record.Ahead(profileNamed(t, test.profile), time.Hour, horizons) {
				got = append(got, float64(int(forecast.CPU.Peak.Value*1000))/1000)
				if forecast.Horizon != horizons[i] || forecast.Pods != 1 || forecast.Memory.Peak.Value < gi {
					t.Errorf("forecast %d is %+v", i, forecast)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("cores (-want +got):\n%s", diff)
			}
			if len(test.record.points) > 0 {
				t.Errorf("%d predictions are remembered for being judged", len(test.record.points))
			}
		})
	}
}

func TestReach(t *testing.T) {
	var got []string
	for _, name := range []string{"balanced", "seasonal"} {
		for _, tier := range []Tier{Batch, Mid} {
			got = append(got, name+" "+string(tier)+" "+profileNamed(t, name).Reach(tier).String())
		}
	}
	want := []string{"balanced batch 1h0m0s", "balanced mid 24h0m0s", "seasonal batch 24h0m0s", "seasonal mid 24h0m0s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOutlook(t *testing.T) {
	balanced, seasonal, koordinator := profileNamed(t, "balanced"), profileNamed(t, "seasonal"), profileNamed(t, "koordinator")
	days, young, moment := evenings(2), NewRecord(), NewRecord()
	for i := range 31 {
		young.Observe(noon.Add(time.Duration(i)*RecordStep), []Sample{used("web", 1)})
	}
	moment.Observe(noon, []Sample{used("web", 1)})
	tests := map[string]struct {
		record     *Record
		batch, mid *Profile
		want       []string // the first and the last hour of each profile
	}{
		"an hour by the profile for batch, then a day": {days, &balanced, &koordinator, []string{"balanced 1", "koordinator 2", "koordinator 24"}},
		"the hours of the day":                         {days, &seasonal, &koordinator, []string{"seasonal 1", "seasonal 24"}},
		"no profile for batch":                         {days, nil, &seasonal, []string{"seasonal 1", "seasonal 24"}},
		"no profile for mid":                           {days, &balanced, nil, []string{"balanced 1"}},
		"none":                                         {days, nil, nil, nil},
		"what was observed for 5 hours tells of 5":     {young, &balanced, &seasonal, []string{"balanced 1", "seasonal 2", "seasonal 5"}},
		"a moment tells of an hour":                    {moment, &balanced, &seasonal, []string{"balanced 1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			all := test.record.Outlook(test.batch, test.mid, 0)
			for i, forecast := range all {
				if i == 0 || i == len(all)-1 || all[i-1].Profile != forecast.Profile {
					got = append(got, fmt.Sprintf("%s %g", forecast.Profile, forecast.Horizon.Hours()))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("forecasts (-want +got):\n%s", diff)
			}
		})
	}
}
