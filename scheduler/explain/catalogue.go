package explain

import (
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
	for _, coder := range s.codersOf(r.plugin) {
		if code := coder.CodeOf(r.reason); code != "" {
			return code
		}
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

// codersOf lists who may know the texts of a plugin: itself, and those whose refusals it relays.
func (s *simulation) codersOf(plugin string) []reason.Coder {
	if s == nil {
		return nil
	}
	var list []reason.Coder
	for _, name := range s.speakersOf(plugin) {
		if coder := s.coders[name]; coder != nil {
			list = append(list, coder)
		}
	}
	return list
}

// speakersOf names the plugins whose refusals a plugin returns: its own, and those that it relays.
func (s *simulation) speakersOf(plugin string) []string {
	return append([]string{plugin}, s.relayed[plugin]...)
}
