package deviceshare

import "koordinator.sh/koord/scheduler/reason"

var _ reason.Allocator = &Plugin{}

// Allocates implements reason.Allocator.
func (p *Plugin) Allocates() {}
