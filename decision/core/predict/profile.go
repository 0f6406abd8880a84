package predict

import (
	"fmt"
	"strings"
	"time"
)

// Profile is a predictor that can be chosen by name.
type Profile struct {
	Name string `json:"name"`
	// Summary says how it predicts and what it is for.
	Summary   string `json:"summary"`
	Predictor `json:"-"`
}

const (
	day = 24 * time.Hour
	// fewPods is the number of pods below which the balanced profile is as careful as the safe one.
	fewPods = 8
)

// safe is what the careful profiles share.
var safe = Max{NSigma{N: 5, Window: day}, RCLike{Fraction: 0.99, Window: day}}

var profiles = []Profile{
	{"balanced", "3-sigma or the sum of pods' p95 over a day, the larger; as safe on nodes of few pods. For batch.",
		ByCount{Pods: fewPods, Few: safe, Enough: Max{NSigma{N: 3, Window: day}, RCLike{Fraction: 0.95, Window: day}}}},
	{"safe", "5-sigma or the sum of pods' p99 over a day, the larger. For nodes where slowing down is expensive.", safe},
	{"aggressive", "3-sigma over 10 hours. Reclaims most and is wrong most often.", NSigma{N: 3, Window: 10 * time.Hour}},
	{"seasonal", "The same hours of the last 7 days plus 10% or 3-sigma, the larger, where the load repeats daily; otherwise as safe. For mid.",
		seasonal()},
	{"koordinator", "Histograms per pod and of the sum, p95 of CPU or p98 of memory plus 10%, the larger. As upstream.",
		Koordinator{MarginPercent: 10}},
	{"n-sigma", "5-sigma over a day.", NSigma{N: 5, Window: day}},
	{"rc-like", "The sum of pods' p99 over a day.", RCLike{Fraction: 0.99, Window: day}},
	{"static", "90% of the limits, whatever is used.", Static{Share: 0.9}},
}

// seasonal is the seasonal predictor of a week.
func seasonal() Predictor {
	season := Seasonal{Days: 7, MarginPercent: 10, MinimumCorrelation: 0.5, Otherwise: safe}
	return Max{season, NSigma{N: 3, Window: day}}
}

// Past is how far back the profile reads.
func (p Profile) Past() time.Duration {
	if p.Name == "seasonal" || p.Name == "koordinator" {
		return 7 * day
	}
	return day
}

// DefaultProfile is the name of the profile where none is chosen.
const DefaultProfile = "balanced"

// Profiles returns all profiles, the recommended ones first. The slice may be changed.
func Profiles() []Profile { return append([]Profile(nil), profiles...) }

// ProfileNamed finds a profile; its error lists the names there are.
func ProfileNamed(name string) (Profile, error) {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return Profile{}, fmt.Errorf("find predictor profile %q: the profiles are %s", name, strings.Join(names, ", "))
}
