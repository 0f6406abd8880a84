package numa

import (
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// align merges the hints of all resources and checks that the result can be allocated.
func (in *Input) align(t terms, trace *Trace) (Hint, Verdict) {
	if len(in.Ledger.Zones) == 0 {
		return Hint{}, Verdict{Code: finding.NUMAZonesMissing}
	}
	providers := make(map[string][]Hint, len(in.Request.Amounts)+len(in.Others))
	for _, name := range in.alignable() {
		hints, verdict := in.hints(t, name, trace)
		if !verdict.Passed() {
			return Hint{}, verdict
		}
		providers[string(name)] = hints
	}
	for name, hints := range in.Others {
		providers[name] = hints
	}
	merged, admitted, reasons := Merge(t.align, providers)
	trace.merged(providers, merged)
	if !admitted {
		detail := ReasonUnaligned
		if len(reasons) > 0 {
			detail = reasons[0]
		}
		return merged, Verdict{Code: finding.NUMAUnaligned, Detail: detail}
	}
	return merged, in.holds(t, merged, trace)
}

// holds says whether the pod can be allocated on the zones of a hint.
func (in *Input) holds(t terms, hint Hint, trace *Trace) Verdict {
	zones := in.reach(t, hint)
	for _, name := range in.alignable() {
		if in.Ledger.freeIn(zones, name) < in.wanted(t, name) {
			return Verdict{Code: finding.NUMAZonesInsufficient}
		}
	}
	if t.bind {
		return in.fits(t, zones, trace)
	}
	return Verdict{}
}

// reach is the zones that a pod may be given resources of. BestEffort begins with those of the hint and goes on to the
// others when they do not suffice; without affinity all are as good.
func (in *Input) reach(t terms, hint Hint) Mask {
	all := in.Ledger.Node.mask()
	if hint.Mask == 0 {
		return all
	}
	if t.align == extension.NUMATopologyPolicyBestEffort && in.admits(all) {
		return all
	}
	return hint.Mask
}
