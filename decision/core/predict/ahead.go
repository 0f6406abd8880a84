package predict

import "time"

// Periodic says whether the profile tells the hours of a day apart, so that it predicts different peaks for different horizons.
func (p Profile) Periodic() bool { return p.Name == "seasonal" }

// Reach is how far ahead the profile predicts for a tier: the horizon of the tier, or a day where the profile tells hours apart.
func (p Profile) Reach(tier Tier) time.Duration {
	if p.Periodic() {
		return day
	}
	return tier.Horizon()
}

// Credible is how much of a horizon can be told of by how long was observed: as much, in whole hours, and an hour at
// least.
func Credible(horizon, observed time.Duration) time.Duration {
	return min(horizon, max(observed.Truncate(time.Hour), time.Hour))
}

// Ahead predicts the peak of the pods above batch within each horizon. Other than Forecast it remembers no prediction for being
// judged, as it answers questions rather than making an offer. Before the first observation it returns nothing.
func (r *Record) Ahead(profile Profile, coldStart time.Duration, horizons []time.Duration) []*Forecast {
	if r.last == 0 {
		return nil
	}
	out := make([]*Forecast, len(horizons))
	for i, horizon := range horizons {
		out[i] = &Forecast{Profile: profile.Name, Horizon: horizon, Span: r.Span(), Window: profile.Past()}
	}
	for _, resource := range []Resource{CPU, Memory} {
		history, requested := r.history(Batch, resource, coldStart)
		for i, forecast := range out {
			forecast.Pods = len(history.Pods)
			if i > 0 && !profile.Periodic() {
				*forecast.Of(resource) = *out[0].Of(resource)
				continue
			}
			history.Horizon = forecast.Horizon
			*forecast.Of(resource) = Foreseen{Peak: profile.Peak(history), Requested: requested, Limits: history.limits()}
		}
	}
	return out
}

// Outlook is what the profiles that are chosen for batch and mid, nil where none is, predict of the pods above batch hour by hour:
// the one for batch as far as it reaches, and then the one for mid. Neither is asked for more than it is made for, nor for more than has
// been observed: an hour is not enough to tell of a day.
func (r *Record) Outlook(batch, mid *Profile, coldStart time.Duration) []*Forecast {
	var out []*Forecast
	from := time.Hour
	for _, chosen := range []struct {
		profile *Profile
		tier    Tier
	}{{batch, Batch}, {mid, Mid}} {
		if chosen.profile == nil {
			continue
		}
		var horizons []time.Duration
		for ; from <= Credible(chosen.profile.Reach(chosen.tier), r.Span()); from += time.Hour {
			horizons = append(horizons, from)
		}
		if len(horizons) > 0 {
			out = append(out, r.Ahead(*chosen.profile, coldStart, horizons)...)
		}
	}
	return out
}
