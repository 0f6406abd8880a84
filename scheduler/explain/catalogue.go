package explain

import (
	"iter"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/nodefit"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

// codeOf finds the code of a refusal. Refusals of plugins that are not in the catalogue keep their text and get a code
// that says so. A nil simulation knows the plugins of Kubernetes only.
func (s *simulation) codeOf(r refusal) finding.Code {
	if recovery.Is(r.reason) {
		return finding.PluginPanicked
	}
	if code := s.toldCodeOf(r); code != "" {
		return code
	}
	if code, known := nodefit.CodeOf(r.plugin); known {
		return code
	}
	if r.reason == notReplayed {
		return finding.GangMemberRefused
	}
	if plugin := reason.ExcludedBy(r.reason); r.plugin == "" && plugin != "" {
		return s.codeOf(refusal{plugin: plugin, reason: r.reason})
	}
	return finding.OtherPlugin
}

// toldCodeOf is the code that one of the plugins knows that the refusal may be of; empty when none does.
func (s *simulation) toldCodeOf(r refusal) finding.Code {
	if s == nil {
		return ""
	}
	for name := range s.speakersOf(r.plugin) {
		if coder := s.coders[name]; coder != nil {
			if code := coder.CodeOf(r.reason); code != "" {
				return code
			}
		}
	}
	return ""
}

// speakersOf names the plugins whose refusals a plugin returns: its own, and those that it relays.
func (s *simulation) speakersOf(plugin string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(plugin) {
			return
		}
		for _, name := range s.relayed[plugin] {
			if !yield(name) {
				return
			}
		}
	}
}
