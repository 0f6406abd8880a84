package elasticquota

import "koordinator.sh/koord/scheduler/reason"

var _ reason.Remediable = &Plugin{}

// Remedies implements reason.Remediable.
func (p *Plugin) Remedies(string) reason.Remedy { return reason.SmallerRequest }
