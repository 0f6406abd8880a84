package loadaware

import (
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/reason"
)

var _ reason.Coder = &Plugin{}

// CodeOf returns the code of a reason of Filter, empty for any other text.
func (p *Plugin) CodeOf(text string) finding.Code { return loadaware.CodeOf(text) }
